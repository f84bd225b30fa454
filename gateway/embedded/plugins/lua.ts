/** Whether a text is the given Lua, however it is indented. */
export function isLua(text: string, known: string): boolean {
  return collapse(text) === collapse(known);
}

function collapse(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}
