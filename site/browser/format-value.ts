const longest = 120;

/** A value as one line of a table. */
export function formatShort(value: unknown): string {
  const text = Array.isArray(value)
    ? `${value.length} ${value.length === 1 ? "row" : "rows"}`
    : typeof value === "object" && value !== null
      ? Object.values(value).map(formatWhole).join(" · ")
      : formatWhole(value);
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** A value with all that it says. */
export function formatWhole(value: unknown): string {
  if (typeof value === "number") return value.toLocaleString("en-US");
  if (typeof value === "object" && value !== null) return JSON.stringify(value, null, 2);
  return String(value);
}
