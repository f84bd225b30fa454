import { mostEntries, readList } from "./check/read-list.ts";
import { count } from "./finding-words.ts";
import { agencies, findState, states } from "./names.ts";
import { readAlnOrAgency } from "./read-filters.ts";
import { cut } from "./search/words.ts";

/** Which reports' changes are asked for. */
export interface ChangesFilter {
  /** Criteria of publication.list_changes(). */
  criteria: { state?: string; aln?: string; ids?: string[] };
  /** The filter as a query string. */
  search: string;
  /** Completes "Changes of reports …": "of auditees in Texas". */
  words: string;
  /** What was asked for, but not understood. */
  unread: string[];
}

/** Reads a filter from the parameters state, aln and u. Undefined if there is none. */
export function readChangesFilter(asked: Readonly<Record<string, unknown>>): ChangesFilter | undefined {
  const read = (name: string) => [asked[name] ?? ""].flat().join("\n").trim();
  const [typedState, typedAln, typedList] = [read("state"), read("aln"), read("u")];
  if (typedState + typedAln + typedList === "") return undefined;
  const state = findState(typedState);
  const aln = readAlnOrAgency(typedAln);
  const list = readList(typedList);
  const ids = [...new Set(list.entries.map(({ id }) => id))];
  return {
    criteria: { ...(state && { state }), ...(aln && { aln }), ...(typedList && { ids }) },
    search: [state && `state=${state}`, aln && `aln=${aln}`, ids.length > 0 && `u=${ids.join(",")}`]
      .filter(Boolean)
      .join("&"),
    words: [
      state && `of auditees in ${states[state]}`,
      aln && `with awards of ${aln.length === 2 ? `${agencies[aln] ?? "the agency"} (${aln})` : aln}`,
      ids.length > 0 && `in a list of ${count(ids.length, "ID")}`,
    ]
      .filter(Boolean)
      .join(", "),
    unread: [
      ...(typedState && !state ? [cut(typedState, 60)] : []),
      ...(typedAln && !aln ? [cut(typedAln, 60)] : []),
      ...list.unread.slice(0, 20),
      ...(typedList && list.entries.length + list.unread.length === 0 ? [cut(typedList, 60)] : []),
      ...(list.left > 0 ? [`${count(list.left, "entry", "entries")} after the first ${mostEntries}`] : []),
    ],
  };
}
