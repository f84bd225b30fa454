import { emptyQuery, type Query } from "../query.ts";
import { readTarget } from "../read-target.ts";

/** A query and the version it is put to. */
export interface Asked {
  /** Empty for the version that answers where none is named. */
  schema: string;
  query: Query;
}

export const nothingAsked: Asked = { schema: "", query: emptyQuery };

/** What the part of the address behind # asks for; undefined where it asks for nothing. */
export function readAddress(): Asked | undefined {
  const [, schema = "", target] = /^#?([a-z0-9_]*)(\/[a-z0-9_]+(?:\?.*)?)$/s.exec(location.hash) ?? [];
  return target === undefined ? undefined : { schema, query: readTarget(target) };
}
