import { expect, it } from "vitest";
import { tables } from "../support/columns.ts";
import { query } from "../support/target.ts";
import { publisher, rights, roles } from "./rights.ts";

// The rights that the design gives, and no others, read from the catalog.

const namespaces = `
  select oid, nspname as name from pg_namespace
  where nspname !~ '^pg_' and nspname not in ('information_schema') and nspname !~ '_previous$'`;

async function list(sql: string, values: unknown[] = []): Promise<string[]> {
  return (await query<{ name: string }>(sql, values)).map(({ name }) => name).sort();
}

const readableBy = (role: string) =>
  list(
    `select n.name || '.' || c.relname as name from pg_class c join (${namespaces}) n on n.oid = c.relnamespace
     where c.relkind in ('r', 'v', 'm', 'p', 'f') and has_any_column_privilege($1, c.oid, 'select')`,
    [role],
  );

const writableBy = (role: string) =>
  list(
    `select n.name || '.' || c.relname || ' ' || p.name as name
     from pg_class c join (${namespaces}) n on n.oid = c.relnamespace,
     unnest(array['insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain']) as p (name)
     where c.relkind in ('r', 'v', 'm', 'p', 'f') and has_table_privilege($1, c.oid, p.name)`,
    [role],
  );

// An extension's functions belong to a superuser, whoever made it, and its schema is the publisher's to use.
const isOurs = "not exists (select from pg_depend as d where d.objid = p.oid and d.deptype = 'e')";

const runnableBy = (role: string) =>
  list(
    `select distinct case when n.name = 'api_v1_1_0' then 'api_v1_1_0.*' else n.name || '.' || p.proname end as name
     from pg_proc p join (${namespaces}) n on n.oid = p.pronamespace
     where has_function_privilege($1, p.oid, 'execute') and ${isOurs}`,
    [role],
  );

const usableBy = (role: string, privilege: string) =>
  list(`select n.name from (${namespaces}) n where has_schema_privilege($1, n.oid, $2)`, [role, privilege]);

const split = (words: string) => words.split(/\s+/).filter(Boolean).sort();
const owned = `select relname as name from pg_class where relowner = $1::regrole
  union all select proname from pg_proc where proowner = $1::regrole
  union all select nspname from pg_namespace where nspowner = $1::regrole`;

// api_owner writes what it owns; test/scripts/deploy/api-owner.test.ts.
it.each(Object.entries(rights).filter(([role]) => role !== "api_owner"))(
  "%s may use, read and run what the design gives it, and writes and owns nothing",
  async (role, { schemas, reads, runs }) => {
    expect({
      schemas: await usableBy(role, "usage"),
      reads: await readableBy(role),
      runs: await runnableBy(role),
      creates: await usableBy(role, "create"),
      writes: await writableBy(role),
      owns: await list(owned, [role]),
    }).toEqual({
      ...{ schemas: split(schemas), reads: split(reads), runs: split(runs) },
      ...{ creates: [], writes: [], owns: [] },
    });
  },
);

it("publisher reads, writes and runs nothing but what publishing takes", async () => {
  const beside = (names: string[]) =>
    names.filter((name) => !/^(disclosed|suppressed|dissemination)\./.test(name));
  expect({
    reads: beside(await readableBy("publisher")),
    writes: beside(await writableBy("publisher")),
    runs: (await runnableBy("publisher")).filter((name) => !name.startsWith("extensions.")),
  }).toEqual({ reads: split(publisher.reads), writes: publisher.writes, runs: split(publisher.runs) });
});

it("roles may become only what the design says", async () => {
  const memberships = await list(
    `select member.rolname || ' → ' || granted.rolname || case when m.inherit_option then ' inherits' else '' end as name
     from pg_auth_members m
     join pg_roles member on member.oid = m.member join pg_roles granted on granted.oid = m.roleid
     where member.rolname = any ($1)`,
    [roles],
  );
  const become = ["authenticator → api_public", "authenticator → api_tribal", "authenticator → gateway"];
  expect(memberships).toEqual(become);
});

it("only roles that a service connects as log in", async () => {
  const canLogIn = "select rolname as name from pg_roles where rolname = any ($1) and rolcanlogin";
  expect(await list(canLogIn, [roles])).toEqual(["authenticator", "publisher", "report_service"]);
});

it.each([
  [
    "role has an attribute that goes past privileges",
    `select rolname as name from pg_roles where rolname in ('${roles.join("', '")}')
     and (rolsuper or rolcreatedb or rolcreaterole or rolbypassrls or rolreplication)`,
  ],
  [
    "function, relation or schema of this database is everyone's to use",
    `select n.name || '.' || p.proname as name from pg_proc p join (${namespaces}) n on n.oid = p.pronamespace,
       aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a where a.grantee = 0 and ${isOurs}
     union all
     select n.name || '.' || c.relname from pg_class c join (${namespaces}) n on n.oid = c.relnamespace,
       aclexplode(c.relacl) as a where a.grantee = 0
     union all
     select s.nspname from pg_namespace s join (${namespaces}) n using (oid), aclexplode(s.nspacl) as a where a.grantee = 0`,
  ],
  [
    "right to connect or to make temporary tables is everyone's",
    `select a.privilege_type as name from pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
     where d.datname = current_database() and a.grantee = 0`,
  ],
  [
    "function that runs as its owner leaves search_path open",
    `select n.name || '.' || p.proname as name from pg_proc p join (${namespaces}) n on n.oid = p.pronamespace
     where p.prosecdef and not coalesce(p.proconfig @> array['search_path=""'], false)`,
  ],
])("no %s", async (_, sql) => expect(await list(sql)).toEqual([]));

// Row-level security, policies and options of views: publication.find_leaks(), in test/scripts/deploy/leaks.test.ts.

it("each column that is served has a label and a text in its comment", async () => {
  const rows = await query<{ name: string; comment: string | null }>(
    `select c.relname || '.' || a.attname as name, col_description(c.oid, a.attnum) as comment
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
     where c.relnamespace = 'api_v1_1_0'::regnamespace and c.relkind = 'v'`,
  );
  expect(rows.length).toBeGreaterThan(tables.length);
  for (const { name, comment } of rows) expect(comment, name).toMatch(/^[A-Z][^\n.]{1,60}\n\S/);
});
