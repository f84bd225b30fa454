/** Escaped HTML, which may be sent as it is. Only `html` creates it. */
export interface Html {
  readonly html: string;
}

/** Values in a template. Strings are escaped; false, null and undefined become nothing. */
export type Content = Html | string | number | false | null | undefined | readonly Content[];

/** Writes HTML. Escapes every value, for text and for quoted attributes, unless it is Html already. HTML has no NUL. */
export function html(parts: TemplateStringsArray, ...values: Content[]): Html {
  let text = parts[0] ?? "";
  for (const [index, value] of values.entries()) text += write(value) + parts[index + 1];
  return { html: text };
}

function write(content: Content): string {
  if (content === false || content === null || content === undefined) return "";
  if (typeof content === "number") return String(content);
  if (typeof content === "string")
    return content.replace(/[&<>"']/g, (character) => escapes[character] ?? "").replaceAll("\0", "\uFFFD");
  return "html" in content ? content.html : content.map(write).join("");
}

const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
