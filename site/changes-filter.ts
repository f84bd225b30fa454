import { mostEntries, readList } from "./check/read-list.ts";
import { count } from "./finding-words.ts";
import { isDate } from "./findings/read-criteria.ts";
import { agencies, findState, states } from "./names.ts";
import { pickProgram, readAlnOrAgency } from "./read-filters.ts";
import { cut } from "./search/words.ts";

/** Which reports' changes are asked for. */
export interface ChangesFilter {
  /** Criteria of publication.list_changes(). */
  criteria: { state?: string; aln?: string; ids?: string[] };
  /** The filter as a query string. */
  search: string;
  /** Completes "Changes to reports …": "of auditees in Texas". */
  words: string;
  /** What was asked for, but not understood. */
  unread: string[];
}

/** Which publications are asked for. */
export interface AskedPublications {
  /** The only one. */
  number?: number | undefined;
  /** The first date, in the Eastern time zone. */
  since?: string | undefined;
  /** The time of a publication, such as 2026-01-31T17:00:00.000Z. Only later ones are asked for. */
  after?: string | undefined;
  /** What was asked for, but not understood. */
  unread: string[];
}

/** Reads which publications are asked for from the parameters number, since and after. */
export function readPublications(asked: Readonly<Record<string, unknown>>): AskedPublications {
  const [typedNumber, typedSince] = [readText(asked.number), readText(asked.since)];
  const typedAfter = readText(asked.after);
  const number = /^[1-9]\d{0,8}$/.test(typedNumber) ? Number(typedNumber) : undefined;
  const since = isDate(typedSince) ? typedSince : undefined;
  const after = isTime(typedAfter) ? typedAfter : undefined;
  return {
    number,
    since,
    after,
    unread: [
      number === undefined && typedNumber,
      since === undefined && typedSince,
      after === undefined && typedAfter,
    ]
      .filter((text) => text !== false && text !== "")
      .map((text) => cut(String(text), 60)),
  };
}

const isTime = (typed: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(typed) &&
  isDate(typed.slice(0, 10)) &&
  !Number.isNaN(Date.parse(typed));

const readText = (value: unknown): string => [value ?? ""].flat().join("\n").trim();

/** Reads a filter from the parameters state, aln (or program) and u. Undefined if there is none. */
export function readChangesFilter(asked: Readonly<Record<string, unknown>>): ChangesFilter | undefined {
  const [typedState = "", typedAln = "", typedList = ""] = [asked.state, pickProgram(asked), asked.u].map(
    readText,
  );
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
      ids.length > 0 &&
        (ids.length === 1 ? `with the ID ${ids[0]}` : `in a list of ${count(ids.length, "ID")}`),
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
