/** A GET request to the API. */
export interface ApiRequest {
  /** With path and query, percent-encoded. */
  url: string;
  /** All but the key. */
  headers: Record<string, string>;
  /** The demonstration key is written out; a visitor's own key never is. */
  key: "demonstration" | "own";
}

export const demonstrationKey = "DEMO_KEY";

/** Languages in which a request can be written, and what people call them. */
export const languages = { curl: "curl", python: "Python", r: "R", typescript: "TypeScript" } as const;
export type Language = keyof typeof languages;

/**
 * Writes a request as a program that runs as it is and prints the rows. A key of one's own is read from the environment
 * variable API_KEY. Python needs its standard library alone, R the package httr2, TypeScript anything that has fetch and
 * process.env (Node.js 20, Deno, Bun).
 */
export function writeSnippet(language: Language, request: ApiRequest): string {
  return writers[language](request);
}

/** Quotes a text for a POSIX shell. */
export function quoteShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

const writers: Record<Language, (request: ApiRequest) => string> = {
  curl: ({ url, headers, key }) => {
    const keyHeader = key === "own" ? '"x-api-key: $API_KEY"' : quoteShell(`x-api-key: ${demonstrationKey}`);
    const rest = Object.entries(headers).map(([name, value]) => quoteShell(`${name}: ${value}`));
    // -g: brackets in the address are meant as they are.
    return [`curl -sS -g ${quoteShell(url)}`, ...[keyHeader, ...rest].map((header) => `-H ${header}`)].join(
      " \\\n  ",
    );
  },
  python: ({ url, headers, key }) => {
    const keyValue = key === "own" ? 'os.environ["API_KEY"]' : quoteJson(demonstrationKey);
    return [
      "import json",
      ...(key === "own" ? ["import os"] : []),
      "import urllib.request",
      "",
      "request = urllib.request.Request(",
      `    ${quoteJson(url)},`,
      "    headers={",
      `        "x-api-key": ${keyValue},`,
      ...Object.entries(headers).map(([name, value]) => `        ${quoteJson(name)}: ${quoteJson(value)},`),
      "    },",
      ")",
      "with urllib.request.urlopen(request) as response:",
      "    rows = json.load(response)",
      "print(json.dumps(rows, indent=2))",
    ].join("\n");
  },
  r: ({ url, headers, key }) => {
    const keyValue = key === "own" ? 'Sys.getenv("API_KEY")' : quoteJson(demonstrationKey);
    const pairs = [
      `\`x-api-key\` = ${keyValue}`,
      ...Object.entries(headers).map(([name, value]) => `${quoteRName(name)} = ${quoteJson(value)}`),
    ];
    return [
      "library(httr2)",
      "",
      `response <- request(${quoteJson(url)}) |>`,
      `  req_headers(${pairs.join(", ")}) |>`,
      "  req_perform()",
      "rows <- resp_body_json(response, simplifyVector = TRUE)",
      "print(rows)",
    ].join("\n");
  },
  typescript: ({ url, headers, key }) => {
    const keyValue = key === "own" ? 'process.env.API_KEY ?? ""' : quoteJson(demonstrationKey);
    return [
      `const response = await fetch(${quoteJson(url)}, {`,
      "  headers: {",
      `    "x-api-key": ${keyValue},`,
      ...Object.entries(headers).map(([name, value]) => `    ${quoteJson(name)}: ${quoteJson(value)},`),
      "  },",
      "});",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the snippet's.
      "if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);",
      "const rows: Record<string, unknown>[] = await response.json();",
      "console.log(JSON.stringify(rows, null, 2));",
    ].join("\n");
  },
};

/** Quotes a text for Python, R and TypeScript: the escapes of JSON mean the same in all of them. */
function quoteJson(text: string): string {
  return JSON.stringify(text);
}

function quoteRName(name: string): string {
  return `\`${name.replace(/[`\\]/g, "\\$&")}\``;
}
