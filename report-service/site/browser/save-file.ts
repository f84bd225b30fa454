/** Gives the visitor a text as a file. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the text over by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
