import type { SourceColumn } from "../refresh/read-definition.ts";
import type { Key, Row, Value } from "./model.ts";
import { createRandom, type Random } from "./random.ts";
import { ORGANISATIONS } from "./vocabulary.ts";

// Types as db/data_set/staging.sql writes them down, and what a file may hold for each.
const kinds: {
  types: RegExp;
  fits: (value: Value) => boolean;
  invent: (random: Random, key: Key) => Value;
}[] = [
  {
    types: /^(smallint|integer|bigint|int\d?)$/,
    fits: (value) => /^-?\d+$/.test(String(value)),
    invent: (random) => random.integer(0, 1000),
  },
  {
    types: /^(numeric|decimal|real|double)/,
    fits: (value) => value !== "" && Number.isFinite(Number(value)),
    invent: (random) => random.integer(0, 100_000) / 100,
  },
  {
    types: /^bool/,
    fits: (value) => typeof value === "boolean",
    invent: (random) => random.chance(0.5),
  },
  {
    types: /^(date|timestamp)/,
    fits: (value) => /^\d{4}-\d\d-\d\d/.test(String(value)),
    invent: (_, key) => key.fac_accepted_date,
  },
  {
    types: /^(text|varchar|character varying|char)/,
    fits: () => true,
    invent: (random) => random.pick(ORGANISATIONS.words),
  },
];

/** Whether a file may hold the value in a column of this type. Whoever retypes a column need not touch the generator. */
export function fitsType(value: Value, type: string): boolean {
  return value === null || (kinds.find(({ types }) => types.test(type))?.fits(value) ?? true);
}

/** A value for a column that the generator does not know, by its type; null where the type is none of the usual ones. */
export function inventValue(random: Random, type: string, key: Key): Value {
  const value = kinds.find(({ types }) => types.test(type))?.invent(random, key) ?? null;
  const [, length] = /\((\d+)\)$/.exec(type) ?? [];
  return typeof value === "string" && length !== undefined ? value.slice(0, Number(length)) : value;
}

/** Rows of a table that the generator does not know, for every second submission: their values are yet to be invented. */
export function inventRows(seed: number, key: Key, table: string): Row[] {
  const random = createRandom(seed, key.report_id, table);
  return random.chance(0.5) ? Array.from({ length: random.integer(1, 2) }, () => ({})) : [];
}

/** Columns as a list of functions that find the value of each in a row, or invent it. */
export function createReaders(
  seed: number,
  table: string,
  columns: readonly SourceColumn[],
): ((key: Key, row: Row, place: number) => Value)[] {
  return columns.map(({ name, type }) => (key, row, place) => {
    const value = name in key ? key[name as keyof Key] : row[name];
    if (value !== undefined && fitsType(value, type)) return value;
    return inventValue(createRandom(seed, key.report_id, table, name, place), type, key);
  });
}
