import { type CataloguePart, keyOf } from "./read-catalogue.ts";

/** A part that two catalogues do not have alike. */
export interface PartChange {
  before?: CataloguePart;
  after?: CataloguePart;
}

/** What differs between two catalogues in one object. */
export interface ObjectChange {
  change: "added" | "changed" | "dropped";
  /** Such as `view api_v1_1_0.general`. */
  object: string;
  /** Lines of its definition that are in one catalogue only: `- ` before, `+ ` after. */
  lines: string[];
}

/** The parts in which two catalogues differ. */
export function compareParts(before: CataloguePart[], after: CataloguePart[]): PartChange[] {
  const old = new Map(before.map((part) => [keyOf(part), part]));
  const changes: PartChange[] = [];
  for (const part of after) {
    const previous = old.get(keyOf(part));
    old.delete(keyOf(part));
    if (previous === undefined) changes.push({ after: part });
    else if (previous.definition !== part.definition) changes.push({ before: previous, after: part });
  }
  return [...changes, ...[...old.values()].map((part) => ({ before: part }))];
}

/** The same, gathered by object: of an object that is new or gone, the parts are not listed. */
export function gatherChanges(changes: PartChange[]): ObjectChange[] {
  const objects = new Map<string, ObjectChange>();
  for (const { before, after } of changes) {
    const { object = "", part } = after ?? before ?? { part: "" };
    const known = objects.get(object) ?? { change: "changed", object, lines: [] };
    objects.set(object, known);
    if (part === "" && before === undefined) known.change = "added";
    else if (part === "" && after === undefined) known.change = "dropped";
    else known.lines.push(...describePart(before, after));
  }
  return [...objects.values()]
    .map((change) => (change.change === "changed" ? change : { ...change, lines: [] }))
    .sort((a, b) => (a.object < b.object ? -1 : 1));
}

/** Compares two catalogues, object by object. */
export function compareCatalogues(before: CataloguePart[], after: CataloguePart[]): ObjectChange[] {
  return gatherChanges(compareParts(before, after));
}

function describePart(before?: CataloguePart, after?: CataloguePart): string[] {
  const split = (part?: CataloguePart) =>
    part === undefined
      ? []
      : [part.part, part.definition]
          .filter((text) => text !== "")
          .join(" ")
          .split("\n")
          // PostgreSQL ends each column of a view but the last with a comma.
          .map((line) => line.trim().replace(/,$/, ""));
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
  return changes.flatMap(({ change, object, lines }) => [
    `${signs[change]} ${object}`,
    ...lines.map((line) => `    ${line}`),
  ]);
}
