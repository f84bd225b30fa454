import type { Client } from "pg";
import { DeploymentRefused } from "./deployment-refused.ts";
import type { Migration } from "./read-files.ts";

interface Applied {
  name: string;
  sha256: string | null;
}

const emptyDatabase = [
  "  The stack of npm start: npm start -- --fresh makes its data, keys and secrets anew.",
  "  Any other: docs/operations.md, Back-up and restore, takes keys, agreements and history along.",
];

/** The migrations that this database has had, in the order of their names. */
export async function readApplied(client: Client): Promise<Applied[]> {
  const { rows: tables } = await client.query("select to_regclass('deployment.migrations') as found");
  if (tables[0].found === null) return [];
  const { rows } = await client.query<Applied>(
    "select name, sha256 from deployment.migrations order by name",
  );
  return rows;
}

/**
 * The migrations that this database has not had, in order.
 *
 * @param options whether a database that is ahead is taken
 * @throws DeploymentRefused when one that it has had is gone or edited, when one is dated before the last that it has
 * had, or when one that ran outside a transaction has left something half done
 */
export async function findPendingMigrations(
  client: Client,
  migrations: Migration[],
  { rollsBack = false }: { rollsBack?: boolean } = {},
): Promise<Migration[]> {
  const applied = await readApplied(client);
  refuseMissing(applied, migrations, rollsBack);
  const edited = migrations.filter((migration) =>
    applied.some(({ name, sha256 }) => name === migration.id && sha256 !== migration.sha256),
  );
  if (edited.length > 0) {
    throw new DeploymentRefused(
      [
        "This database has had migrations that were edited since:",
        ...edited.map(({ name }) => `  ${name}`),
        "It would not have the edit. Put the files back as they were, and write the change as a migration of its own.",
        "Where they were not yours to edit, begin with an empty database:",
        ...emptyDatabase,
      ].join("\n"),
    );
  }
  const pending = migrations.filter(({ id }) => !applied.some((one) => one.name === id));
  refuseEarlier(pending, applied.at(-1)?.name ?? "");
  if (pending.some(({ noTransaction }) => noTransaction !== undefined)) await refuseInvalidIndexes(client);
  return pending;
}

function refuseMissing(applied: Applied[], migrations: Migration[], rollsBack: boolean): void {
  const missing = applied.filter(({ name }) => !migrations.some(({ id }) => id === name));
  const last = migrations.at(-1)?.id ?? "";
  const isAhead = missing.every(({ name }) => name > last);
  if (missing.length === 0 || (isAhead && rollsBack)) return;
  throw new DeploymentRefused(
    [
      "This database was made by migrations that db/migrations does not have:",
      ...missing.map(({ name }) => `  ${name}`),
      ...(!isAhead
        ? [
            "Nothing was changed. Deploy the commit that has them, or begin with an empty database:",
            ...emptyDatabase,
          ]
        : [
            "Nothing was changed. This checkout is older than the database. Deploy the commit that has these migrations, or,",
            "to put only the API back to this checkout: npm run db:deploy -- --roll-back",
          ]),
    ].join("\n"),
  );
}

/** Where the database stands must not depend on when it was deployed, so a migration comes after those it has had. */
function refuseEarlier(pending: Migration[], last: string): void {
  const early = pending.filter(({ id }) => id < last);
  if (early.length === 0) return;
  const later = [last, ...pending.map(({ id }) => id)].sort().at(-1) ?? "";
  const stamps = [new Date().toISOString().replaceAll(/\D/g, ""), /^\d*/.exec(later)?.[0] ?? ""];
  const stamp = BigInt(stamps.sort().at(-1) ?? "") + 1n;
  throw new DeploymentRefused(
    [
      `These migrations are dated before the last one that this database has had, ${last}:`,
      ...early.map(({ name }) => `  ${name}`),
      "Databases that are made anew would run them in another order. Give them a new date:",
      ...early.map(
        ({ id, name }, index) =>
          `  git mv ${name} db/migrations/${stamp + BigInt(index)}${id.replace(/^\d+/, "")}.sql`,
      ),
    ].join("\n"),
  );
}

/** `create index concurrently` that fails leaves an index that is kept up to date and never used. */
async function refuseInvalidIndexes(client: Client): Promise<void> {
  const lines = await describeInvalidIndexes(client);
  if (lines.length > 0) throw new DeploymentRefused(lines.join("\n"));
}

/** Indexes that are half made, with the statements that drop them. */
export async function describeInvalidIndexes(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; made_on: string }>(
    `select indexrelid::regclass::text as name, indrelid::regclass::text as made_on from pg_index
     where not indisvalid and indexrelid not in (select index_relid from pg_stat_progress_create_index)
     order by 1`,
  );
  if (rows.length === 0) return [];
  return [
    "An index was left half made by a statement that failed outside a transaction. It costs each write, and serves no query:",
    ...rows.map(({ name, made_on }) => `  ${name} on ${made_on}`),
    "Mend what made it fail, drop it, and deploy again:",
    ...rows.map(({ name }) => `  drop index concurrently ${name};`),
  ];
}
