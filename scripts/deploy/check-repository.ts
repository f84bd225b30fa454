import path from "node:path";
import { $ } from "zx";
import { connect } from "../../service/connect.ts";
import { describeError } from "../../service/describe-error.ts";
import { type CheckTools, checkUpgrade } from "./check-upgrade.ts";
import { type Contract, readServedContracts } from "./contract.ts";
import { findStale } from "./contract-program.ts";
import { deployDatabase } from "./deploy-database.ts";
import { readFiles } from "./read-files.ts";

/** What one check found. It passes without errors; a person weighs warnings. */
export interface CheckResult {
  name: string;
  errors: string[];
  warnings: string[];
}

/**
 * Checks a `db` directory without deploying it.
 *
 * @param isStrict whether migrations that may lose data or block requests fail, unless they say why
 */
export async function checkRepository(
  directory: string,
  tools: CheckTools,
  isStrict = false,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  const check = async (name: string, work: (warnings: string[]) => Promise<string[]>) => {
    const warnings: string[] = [];
    const errors = await work(warnings).catch((error: unknown) => [describeError(error)]);
    results.push({ name, errors, warnings });
  };
  await check("every migration states its lock level", async () => {
    const { migrations } = await readFiles(directory);
    return migrations
      .filter(({ sql }) => !/^(--.*\n)*-- Lock level: \S/.test(sql))
      .map(({ name }) => `${name}: say at its top what it locks: -- Lock level: …`);
  });
  await check("lint", async (warnings) => {
    const found = await lintSql(directory, isStrict);
    if (found.isFailed) return [found.output];
    if (found.output.includes("━")) warnings.push(found.output);
    return [];
  });
  let served: Contract[] | undefined;
  await check("db deploys on an empty database, and shows nothing suppressed", async (warnings) => {
    const databaseUrl = await tools.createDatabase();
    await deployDatabase(databaseUrl, {}, { directory });
    const client = await connect(databaseUrl, "db-check");
    try {
      served = await readServedContracts(client);
      const { rows } = await client.query<{ line: string }>(reordered);
      warnings.push(...rows.map(({ line }) => line));
      return [];
    } finally {
      await client.end();
    }
  });
  await check("contracts and types agree with what is served", async () => {
    const lines = served === undefined ? [] : await findStale(directory, served);
    return lines.map((line) => `${line}. Write it down: npm run db:contract -- --write`);
  });
  await check(
    "an upgrade from the last release (a git tag v…), with data in it, ends where a new database does",
    () => checkUpgrade(directory, tools),
  );
  return results;
}

/**
 * Runs the Postgres language server, as `postgres-language-server.jsonc` configures it: syntax, PL/pgSQL bodies, and what a
 * migration may lose or block. A line `-- pgls-ignore <rule>: <reason>` above a statement silences one rule for it.
 */
async function lintSql(directory: string, isStrict: boolean): Promise<{ isFailed: boolean; output: string }> {
  const project = path.resolve(import.meta.dirname, "../..");
  const program = path.join(
    project,
    "node_modules/@postgres-language-server/cli-x86_64-linux-gnu/postgres-language-server",
  );
  const options = ["--colors=off", "--disable-db", "--max-diagnostics=none", `--config-path=${project}`];
  if (isStrict) options.push("--error-on-warnings");
  const run = $({ cwd: path.dirname(directory), nothrow: true, quiet: true });
  const { exitCode, stdout, stderr } = await run`${program} check ${options} ${path.basename(directory)}`;
  return { isFailed: exitCode !== 0, output: (stdout + stderr).trim() };
}

// A skipped row costs nothing only if a view has the columns of its table, in order.
const reordered = `
select format('%s: its columns are not those of %s, in order, so deep pages are slow.', view.oid::regclass, relation.oid::regclass) as line
from publication.served_schemas
join pg_catalog.pg_class as view on view.relnamespace = served_schemas.oid and view.relkind = 'v'
cross join lateral regexp_match(pg_get_viewdef(view.oid), '^ SELECT (.*)\\s+FROM (dissemination\\.\\w+)') as parts
join pg_catalog.pg_class as relation on relation.oid = to_regclass(parts[2])
where array(select found[1] from regexp_matches(parts[1], '(?:^|,\\s+)(?:\\w+\\.)?(\\w+)', 'g') as found) <> array(
  select attname::text from pg_catalog.pg_attribute
  where attrelid = relation.oid and attnum > 0 and not attisdropped order by attnum
)
order by 1`;
