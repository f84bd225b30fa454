import { readFile } from "node:fs/promises";
import path from "node:path";
import { connect } from "../../service/connect.ts";
import { describeError } from "../../service/describe-error.ts";
import { type CheckTools, checkUpgrade } from "./check-upgrade.ts";
import { compareContracts } from "./compare-contracts.ts";
import { readContracts, readServedContracts } from "./contract.ts";
import { deployDatabase } from "./deploy-database.ts";
import { describeFinding, lintSql, type SqlFinding } from "./lint-sql.ts";
import { readMigrations } from "./read-files.ts";
import { describeTypes, typesFile } from "./write-types.ts";

/** What one check found. It passes without errors; warnings are for a person to weigh. */
export interface CheckResult {
  name: string;
  errors: string[];
  warnings: string[];
  /** What was not checked, and why. */
  notes: string[];
}

/**
 * Everything about a `db` directory that can be known without deploying it.
 */
export async function checkRepository(directory: string, tools: CheckTools): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const check = async (name: string, work: (warnings: string[], notes: string[]) => Promise<string[]>) => {
    const warnings: string[] = [];
    const notes: string[] = [];
    const errors = await work(warnings, notes).catch((error: unknown) => [describeError(error)]);
    results.push({ name, errors, warnings, notes });
    return errors.length === 0;
  };
  await check("every migration states its lock level", () => checkLockLevels(directory));
  const databaseUrl = await tools.createDatabase();
  const isDeployed = await check(
    "db deploys on an empty database, and shows nothing suppressed",
    async () => {
      await deployDatabase(databaseUrl, {}, { directory });
      return [];
    },
  );
  await check(isDeployed ? "lint and type check" : "lint", async (warnings) => {
    const findings = await lintSql(directory, isDeployed ? databaseUrl : undefined);
    // What may lose data, or hold requests up, is for the migration to justify: -- pgls-ignore <rule>: <why>
    const isFatal = ({ isError, file }: SqlFinding) =>
      isError || (tools.isStrict === true && /(^|\/)migrations\//.test(file));
    warnings.push(...findings.filter((finding) => !isFatal(finding)).map(describeFinding));
    return findings.filter(isFatal).map(describeFinding);
  });
  if (isDeployed) {
    const client = await connect(databaseUrl, "db-check");
    try {
      await check("views have their table's columns in order", async (warnings) => {
        warnings.push(...(await findReordered(client)));
        return [];
      });
      await check("contracts agree with what is served", async () => {
        const contracts = await readContracts(path.join(directory, "contracts"));
        return compareContracts(contracts, await readServedContracts(client)).map(
          ({ schema, what, breaks }) =>
            `${schema}: ${what}. ${breaks ?? "Write it down: npm run db:contract -- --write"}`,
        );
      });
    } finally {
      await client.end();
    }
  }
  await check("types for clients are up to date", async () => {
    const written = await readFile(typesFile(directory), "utf8").catch(() => "");
    return written === (await describeTypes(directory)) ? [] : ["Run npm run db:types."];
  });
  await check(
    "an upgrade from the last release, with data in it, ends where a deployment from nothing does",
    (warnings, notes) => checkUpgrade(directory, tools, warnings, notes),
  );
  return results;
}

async function checkLockLevels(directory: string): Promise<string[]> {
  const migrations = await readMigrations(directory);
  return migrations
    .filter(({ sql }) => !/^(--.*\n)*-- Lock level: \S/.test(sql))
    .map(({ name }) => `${name}: say in the comment at its top what it locks: -- Lock level: …`);
}

/** Views that do not have their table's columns in its order, by whatever names: each skipped row of a page is rebuilt. */
async function findReordered(client: Awaited<ReturnType<typeof connect>>): Promise<string[]> {
  const { rows: views } = await client.query<{ view: string; definition: string }>(
    `select c.oid::regclass::text as view, pg_get_viewdef(c.oid) as definition
     from publication.served_schemas join pg_class c on c.relnamespace = served_schemas.oid
     where c.relkind = 'v' order by 1`,
  );
  const { rows: tables } = await client.query<{ name: string; columns: string[] }>(
    `select attrelid::regclass::text as name, array_agg(attname::text order by attnum) as columns
     from pg_attribute join pg_class c on c.oid = attrelid
     where relnamespace = 'dissemination'::regnamespace and attnum > 0 and not attisdropped group by attrelid`,
  );
  return views.flatMap(({ view, definition }) => {
    // What is no plain select breaks a rule, which says more.
    const [, list = "", name] =
      /^ SELECT ([\s\S]+?)\s+FROM (dissemination\.\w+)( \w+)?;$/.exec(definition) ?? [];
    const columns = list.split(/,\s+/).map((column) => column.replace(/ AS .*$/, "").replace(/^\w+\./, ""));
    const table = tables.find((one) => one.name === name);
    return table === undefined || columns.join() === table.columns.join()
      ? []
      : [`${view}: its columns are not those of ${name}, in order, so deep pages are slow.`];
  });
}
