import type { Client } from "pg";
import { checkLeaks, checkRequests, checkRows, LeaksFound } from "../refresh/check-leaks.ts";
import { type GuardedFiles, runGuardedFiles } from "../sql/run-guarded-files.ts";
import { checkRules, describeRuleFinding } from "./check-rules.ts";
import type { PartChange } from "./compare-catalogues.ts";
import { compareContracts, describeBreaks } from "./compare-contracts.ts";
import { type Contract, readRecordedContracts, readServedContracts } from "./contract.ts";
import { forgetRecord } from "./find-drift.ts";
import type { ApiFiles } from "./read-api-files.ts";
import { DeploymentRefused, describeForeignSchemas, refuseEarlyRemoval } from "./refuse-early-removal.ts";
import { lockTimeoutMilliseconds, takeTurns } from "./take-turns.ts";

/** What `db/api` is to become, and what it must not break. */
export interface Api {
  files: ApiFiles;
  contracts: Contract[];
  /** Whether versions that the files do not know stay as they are, in place of being removed. */
  keepsOthers?: boolean;
  /** Whether contracts and rules are left for the caller to check. */
  isTrial?: boolean;
  /** Whether what is served by it is not promised to clients yet, as while somebody edits. */
  isDraft?: boolean;
  /** Whether the schemas are rebuilt although these very files are deployed. */
  isForced?: boolean;
  /** What is in the database and not of the project: rules of the house do not hold for it. */
  foreign?: PartChange[];
}

/**
 * Rebuilds the API schemas and `request` from the files of `db/api`, in one transaction, and tells PostgREST.
 * Does nothing when these very files were deployed last, unless it is forced. Requests that are under way end first; those that
 * come meanwhile wait, some tens of milliseconds.
 *
 * @returns whether anything was done
 * @throws SqlFileError when a file fails, DeploymentRefused when a contract or a rule is broken: then nothing has
 * changed
 */
export async function applyApiSchemas(
  client: Client,
  api: Api,
  report: (line: string) => void = () => {},
): Promise<boolean> {
  if (!api.isForced && (await readDeployedHash(client)) === api.files.sha256) return false;
  for (const line of await describeForeignSchemas(client)) report(line);
  await takeTurns(
    client,
    async () => {
      await client.query("begin");
      try {
        await rebuildApiSchemas(client, api);
        await client.query("commit");
        // For `GET /`, PostgREST joins the API's functions to all others: ten times as slow if the planner expects one.
        await client.query("analyze pg_catalog.pg_proc");
      } catch (error) {
        await client.query("rollback");
        throw error;
      }
    },
    report,
  );
  return true;
}

/** The hash of the files that are deployed, if any. */
export async function readDeployedHash(client: Client): Promise<string | undefined> {
  const { rows: tables } = await client.query("select to_regclass('deployment.api_schemas') as found");
  if (tables[0].found === null) return undefined;
  const { rows } = await client.query<{ sha256: string }>(
    "select sha256 from deployment.api_schemas order by id desc limit 1",
  );
  return rows[0]?.sha256;
}

/** The work itself, inside the caller's transaction, which decides whether it lasts. */
async function rebuildApiSchemas(
  client: Client,
  { files, contracts, keepsOthers = false, isTrial = false, isDraft = false, foreign = [] }: Api,
): Promise<void> {
  await client.query(
    `set local lock_timeout = '${lockTimeoutMilliseconds}ms'; set local client_min_messages = warning`,
  );
  const known = [...new Set(files.files.map(({ path }) => path.split("/")[0] ?? ""))];
  if (!keepsOthers) await refuseEarlyRemoval(client, known);
  // No row of the data set changes below, and requests do not wait yet.
  await refuseLeaks(checkRows(client, ""));
  // request.authorize() holds this lock, shared, for as long as its request lasts.
  await client.query("select pg_advisory_xact_lock(hashtext('api_schemas'))");
  await client.query("select set_config('deployment.known_schemas', $1, true)", [
    keepsOthers ? known.join() : "",
  ]);
  await client.query(clearSchemas);
  await runGuardedFiles(client, groupBySchema(files));
  await client.query("select request.cast_views(), publication.describe_data_set()");
  const served = await readServedContracts(client);
  if (!isTrial) await refuseBreaks(client, contracts, served, foreign);
  await client.query("insert into deployment.api_schemas (sha256, contracts) values ($1, $2)", [
    files.sha256,
    isTrial || isDraft ? null : JSON.stringify(served),
  ]);
  await forgetRecord(client);
  await client.query("notify pgrst, 'reload config'; notify pgrst, 'reload schema'");
}

/** A folder is a schema, and its files are about nothing else. */
function groupBySchema({ files }: ApiFiles): GuardedFiles[] {
  const schemas = [...new Set(files.map(({ path }) => path.split("/")[0] ?? ""))];
  return schemas.map((schema) => ({
    files: files
      .filter(({ path }) => path.startsWith(`${schema}/`))
      .map(({ path, sql }) => ({ name: `db/api/${path}`, sql })),
    scope: { schemas: `^${schema}$`, tables: false },
    rule: `Files of db/api/${schema} make views, functions, types, comments and grants in the schema ${schema}, and nothing else.`,
  }));
}

async function refuseLeaks(check: Promise<void>): Promise<void> {
  await check.catch((error: unknown) => {
    throw error instanceof LeaksFound ? new DeploymentRefused(error.message, { cause: error }) : error;
  });
}

/**
 * Contracts (those that were deployed, and the files') and rules of the house hold for what the transaction has made,
 * and it shows nothing suppressed.
 */
async function refuseBreaks(
  client: Client,
  contracts: Contract[],
  served: Contract[],
  foreign: PartChange[],
): Promise<void> {
  // A version goes as refuseEarlyRemoval() lets it.
  const promised = (await readRecordedContracts(client)).filter(({ schema }) =>
    served.some((one) => one.schema === schema),
  );
  const breaks =
    describeBreaks(compareContracts(promised, served)) ?? describeBreaks(compareContracts(contracts, served));
  if (breaks !== undefined) throw new DeploymentRefused(breaks);
  await refuseLeaks(checkLeaks(client));
  await refuseLeaks(checkRequests(client));
  const beside = foreign.map(({ after }) =>
    after?.object.replace(/^(materialized view|foreign table|[a-z]+) /, ""),
  );
  const findings = (await checkRules(client)).filter(({ object }) => !beside.includes(object));
  if (findings.length > 0) {
    throw new DeploymentRefused(
      [
        "The rules of this database are broken:",
        ...findings.map((finding) => `  ${describeRuleFinding(finding)}`),
      ].join("\n"),
    );
  }
}

// All but what PostgREST may be about to call: request.authorize() and pre_config() are replaced in place, and lose
// the rights and comments that their files do not give them again. What somebody else made is not served, and stays.
const clearSchemas = `
  do $$
  declare
    object record;
    known constant text := current_setting('deployment.known_schemas');
  begin
    for object in
      select nspname as name from pg_catalog.pg_namespace
      where nspname ~ '^(admin_)?api_v[0-9]'
        and nspowner = (select nspowner from pg_catalog.pg_namespace where nspname = 'request')
        and (known = '' or nspname = any (string_to_array(known, ',')))
    loop
      execute format('drop schema %I cascade', object.name);
    end loop;
    if to_regnamespace('request') is not null then
      revoke all on schema request from authenticator, gateway, api_public, api_tribal;
      comment on schema request is null;
    end if;
    for object in
      select oid::regprocedure as signature, proname in ('authorize', 'pre_config') and pronargs = 0 as stays
      from pg_catalog.pg_proc
      where pronamespace = (select oid from pg_catalog.pg_namespace where nspname = 'request')
    loop
      if object.stays then
        execute format('revoke all on function %s from authenticator, gateway, api_public, api_tribal', object.signature);
        execute format('comment on function %s is null', object.signature);
      else
        execute format('drop routine %s', object.signature);
      end if;
    end loop;
    for object in
      select oid::regclass as name from pg_catalog.pg_class
      where relnamespace = to_regnamespace('request') and relkind = 'v'
    loop
      execute format('drop view %s', object.name);
    end loop;
    for object in
      select oid::regtype as name from pg_catalog.pg_type
      where typnamespace = to_regnamespace('request') and typtype in ('c', 'd', 'e')
    loop
      execute format('drop type %s cascade', object.name);
    end loop;
  end
  $$`;
