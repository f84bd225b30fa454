import { beforeAll, describe, expect, it } from "vitest";
import { useDeployedDatabase } from "../../support/scratch-database.ts";

// The functions that API functions may call (db/deployment/callable_functions.sql), compared with PostgreSQL's catalog.

interface Callable {
  signature: string;
  reason: string;
  volatility: string | null;
  schema: string;
  takesObject: boolean;
  /** How many arguments are, or may be, texts. */
  texts: number;
}

const database = useDeployedDatabase();
let listed: Callable[];

beforeAll(async () => {
  ({ rows: listed } = await database.client.query<Callable>(
    `select callable_functions.signature, callable_functions.reason, provolatile as volatility,
       pronamespace::regnamespace::text as schema, publication.find_object_arguments(pg_proc.oid) as "takesObject",
       (select count(*)::integer from unnest(proargtypes::oid[]) as type
        where type in ('text'::regtype, 'text[]'::regtype, '"any"'::regtype, 'anyelement'::regtype)) as texts
     from publication.find_callable_functions() as callable_functions left join pg_proc on pg_proc.oid = callable_functions.oid`,
  ));
});

describe("the list of callable functions", () => {
  it("has only stable functions of PostgreSQL that exist, each once", () => {
    expect(listed.filter(({ volatility, schema }) => volatility !== "s" || schema !== "pg_catalog")).toEqual(
      [],
    );
    expect(new Set(listed.map(({ signature }) => signature)).size).toBe(listed.length);
    expect(listed.length).toBeGreaterThan(50);
  });

  it("has no function that takes the name or ID of an object", () => {
    expect(listed.filter(({ takesObject }) => takesObject)).toEqual([]);
  });

  it("says what each text argument means", () => {
    const count = ({ reason }: Callable) => [...reason.matchAll(/\btexts?\b/gi)].length;
    expect(listed.filter((one) => count(one) < one.texts)).toEqual([]);
  });
});

it.each([
  ["pg_relation_size(regclass)", true],
  ["cursor_to_xml(refcursor, integer, boolean, boolean, text)", true],
  ["aclcontains(aclitem[], aclitem)", true],
  ["textin(cstring)", true],
  ["array_agg_transfn(internal, anynonarray)", true],
  ["nameeq(name, name)", true],
  ["oidvectoreq(oidvector, oidvector)", true],
  ["max(oid)", true],
  ["to_tsvector(regconfig, text)", false],
  ["upper(text)", false],
])("whether %s takes the name or ID of an object: %s", async (signature, takesObject) => {
  const asked = "select publication.find_object_arguments($1::regprocedure) as found";
  expect((await database.client.query(asked, [signature])).rows).toEqual([{ found: takesObject }]);
});

it("functions that take object names by type are recognized", async () => {
  const { rows } = await database.client.query<{ name: string }>(
    `select distinct proname as name from pg_proc
     where pronamespace = 'pg_catalog'::regnamespace and provolatile = 'i' and not publication.find_object_arguments(oid)`,
  );
  const names = rows.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["upper", "to_tsvector", "sum", "texticlike"]));
  // Of the immutable functions, none reads a table, a file, a setting or statistics.
  const suspect =
    /^(pg_(get|stat|read|ls|relation|table|total|indexes|database)_|has_|.*_to_xml|to_reg|current_)/;
  expect(names.filter((name) => suspect.test(name))).toEqual([]);
});
