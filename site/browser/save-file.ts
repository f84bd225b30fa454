/** Gives the visitor a CSV file. */
export function saveFile(name: string, parts: string[]): void {
  const url = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the text over by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
