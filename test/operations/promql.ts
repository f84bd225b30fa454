/** A metric that an expression asks for, with the labels it is picked by. */
export interface Selector {
  metric: string;
  labels: string[];
}

const keywords = new Set([
  ...[
    "and",
    "or",
    "unless",
    "by",
    "without",
    "on",
    "ignoring",
    "group_left",
    "group_right",
    "bool",
    "offset",
  ],
]);

/** The metrics that a PromQL expression asks for: names that are neither functions nor labels. */
export function findSelectors(expression: string): Selector[] {
  const found: Selector[] = [];
  const bare = expression
    // What a grouping or matching clause lists are labels.
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, " ")
    .replaceAll(/\[[^\]]*\]/g, " ");
  for (const [, metric = "", next = "", matchers = ""] of bare.matchAll(
    /\b([a-zA-Z_:][\w:]*)\b(?:\s*(\()|\s*\{((?:[^"}]|"[^"]*")*)\})?/g,
  )) {
    if (next === "(" || keywords.has(metric)) continue;
    const labels = [...matchers.matchAll(/(\w+)\s*[!=]~?=?\s*"[^"]*"/g)].map(([, label = ""]) => label);
    found.push({ metric, labels });
  }
  return found;
}
