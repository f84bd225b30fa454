import type { CatalogueObject } from "./read-catalogue.ts";

/** What differs between two catalogues in one object. */
export interface ObjectChange {
  change: "added" | "changed" | "dropped";
  kind: string;
  name: string;
  /** Lines of its definition that are in one catalogue only: `- ` before, `+ ` after. */
  lines: string[];
}

/** Compares two catalogues, object by object. */
export function compareCatalogues(before: CatalogueObject[], after: CatalogueObject[]): ObjectChange[] {
  const old = new Map(before.map((object) => [`${object.kind} ${object.name}`, object]));
  const changes: ObjectChange[] = [];
  for (const object of after) {
    const key = `${object.kind} ${object.name}`;
    const previous = old.get(key);
    old.delete(key);
    const { kind, name, definition } = object;
    if (previous === undefined) changes.push({ change: "added", kind, name, lines: [] });
    else if (previous.definition !== definition) {
      changes.push({ change: "changed", kind, name, lines: compareLines(previous.definition, definition) });
    }
  }
  for (const { kind, name } of old.values()) changes.push({ change: "dropped", kind, name, lines: [] });
  return changes;
}

function compareLines(before: string, after: string): string[] {
  // PostgreSQL ends each column of a view but the last with a comma.
  const split = (text: string) => text.split("\n").map((line) => line.trim().replace(/,$/, ""));
  const old = split(before);
  const now = split(after);
  const lines = [
    ...old.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ];
  return lines.length > 0 ? lines : ["~ the same lines in another order"];
}

/** Changes as text: a line an object, and below it what changed in it. */
export function describeChanges(changes: ObjectChange[]): string[] {
  const signs = { added: "+", changed: "~", dropped: "-" };
  return changes.flatMap(({ change, kind, name, lines }) => [
    `${signs[change]} ${kind} ${name}`,
    ...lines.map((line) => `    ${line}`),
  ]);
}
