import path from "node:path";
import type { Client } from "pg";
import { connect } from "../../shared/connect.ts";
import { expectRights, findChangedRights, readFacts, recordRights } from "../sql/check-rights.ts";
import { describeSqlError } from "../sql/describe-sql-error.ts";
import { runTransaction } from "../sql/run-transaction.ts";
import { lockDeployment, prepareSession } from "../sql/session.ts";
import { applyApi, refuseBrokenRules } from "./apply-api.ts";
import { buildIndexes, listIndexChanges } from "./build-indexes.ts";
import { refuseMissingRights, refuseOldServer, refuseOtherCollation } from "./check-server.ts";
import { type ContractChange, readServedContracts } from "./contract.ts";
import {
  driftUnknown,
  findDrift,
  forgetFingerprint,
  readDeployed,
  recordDeployment,
  recordFingerprint,
} from "./deployed.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import { limitTemporaryFiles } from "./limit-temporary-files.ts";
import { compareMigrations, runMigration } from "./migrations.ts";
import { recordPromise, refuseBrokenPromises } from "./promises.ts";
import { type DatabaseFiles, readFiles } from "./read-files.ts";
import {
  hashPublicationFunctions,
  installLeakCheck,
  refuseLeaks,
  refuseLeaksInRows,
} from "./refuse-leaks.ts";
import { type ReleaseOptions, refuseOlderRelease } from "./release-order.ts";
import { replaceFunctions } from "./replace-functions.ts";
import { describePasswords, type Passwords } from "./role-passwords.ts";

export const repositoryDirectory = path.resolve(import.meta.dirname, "../../db");

/** What a deployment did. */
export interface Deployment {
  /** Names of the migrations that ran. */
  migrations: string[];
  apiSchemasChanged: boolean;
  /** What clients gained and lost, compared with what they were promised. */
  changes: ContractChange[];
  /** Indexes of the data set that were built or dropped. */
  indexes: string[];
  /** Columns that are null until a refresh reads files that have them, such as `general.auditee_county`. */
  awaitedColumns: string[];
}

export interface DeploymentOptions extends ReleaseOptions {
  /** A directory to deploy instead of this repository's `db`. */
  directory?: string;
  /** Whether clients may rely on what this deployment serves. Without it, the deployment is a draft. */
  promises?: boolean | undefined;
  /** Decides whether to deploy to a database that was changed by hand; without it, nothing is deployed. */
  acceptsDrift?: () => boolean | Promise<boolean>;
  /** Throws to refuse the deployment. Called once this deployment holds the lock. */
  confirm?: () => Promise<void>;
  /** How long to wait for another deployment. Unlimited if absent. */
  waitMilliseconds?: number | undefined;
  /** Records the rights that the database has afterwards as the list, instead of comparing them. For scratch databases. */
  takesRights?: boolean;
}

/** The database was changed by hand since the last deployment, and the operator has not accepted that. */
export class DriftFound extends DeploymentRefused {
  override name = "DriftFound";
}

/**
 * Brings a database to the state of `db`: migrations, functions, the API schemas, the indexes of the data set, then the given
 * passwords of login roles. Each step is a transaction that ends with the leak check and is refused whole. A second deployment
 * at the same time waits for the first. If nothing differs, nothing is changed.
 *
 * @throws DeploymentRefused, DriftFound, LeaksFound, SqlFileError, PoolerRefused; if migrations ran before, `report` gets their names
 */
export async function deployDatabase(
  databaseUrl: string,
  passwords: Passwords = {},
  options: DeploymentOptions = {},
): Promise<Deployment> {
  const { directory = repositoryDirectory, report = () => {} } = options;
  const setPasswords = describePasswords(passwords);
  const files = await readFiles(directory);
  let client = await connect(databaseUrl, "db-deploy");
  const migrations: string[] = [];
  try {
    await refuseOldServer(client);
    await refuseOtherCollation(client, report);
    await prepareSession(client);
    await refuseMissingRights(client, files.rights);
    client = await becomeOwner(client, databaseUrl);
    await lockDeployment(client, report, options.waitMilliseconds);
    await options.confirm?.();
    const work = await findWork(client, files, options);
    const { pending, newer, deployed, drift, changedRights, isOutdated, isRecorded } = work;
    const isDurableChanged = drift.durable === "changed";
    if (isDurableChanged && !(await options.acceptsDrift?.())) throw new DriftFound(driftMessage);
    if (drift.durable === "unknown") report(driftUnknown);
    if (drift.api === "changed" || changedRights.length > 0)
      report(
        "The API schemas, functions or rights were changed by hand. Rebuilding the API from db/api and db/functions.",
      );

    // The next deployment must not report accepted drift as drift.
    if (isDurableChanged) await forgetFingerprint(client);
    for (const migration of pending) {
      await runMigration(client, migration, files, report);
      migrations.push(migration.id);
    }
    let changes: ContractChange[] = [];
    if (isOutdated) {
      changes = await runTransaction(client, () => rebuildApi(client, files, options, work), report);
      // For `GET /`, PostgREST's query takes ten times as long if the planner expects only one function in the catalog.
      // Requests wait for the transaction above, so this runs after it.
      await client.query("analyze pg_catalog.pg_proc");
    } else {
      // A change made by hand, or a migration without a transaction, may have caused a leak.
      const check = async () => {
        await installLeakCheck(client, files.leakCheck);
        await recordRights(client, files.rights, newer.length > 0);
        await refuseLeaks(client, true);
        if (deployed && options.release && !isRecorded) {
          const is_rollback = options.rollsBack === true;
          const done = { migrations: [], rebuilt_api: false, is_promise: deployed.is_promise, is_rollback };
          await recordDeployment(client, files, done, options.release);
        }
      };
      await runTransaction(client, check, report);
    }
    const indexes = await buildIndexes(client, report);
    for (const statement of setPasswords) await client.query(statement);
    await limitTemporaryFiles(client, report);
    await recordFingerprint(client);
    const awaitedColumns = await listAwaitedColumns(client);
    return { migrations, apiSchemasChanged: isOutdated, changes, indexes, awaitedColumns };
  } catch (error) {
    if (migrations.length > 0) {
      report(`The deployment did not finish. These migrations stay applied: ${migrations.join(", ")}.`);
      // What this deployment changed is not drift, and the next deployment can still find what others change. If the
      // connection is lost, nothing can be recorded.
      await recordFingerprint(client).catch(() => {});
    }
    throw error;
  } finally {
    await client.end();
  }
}

/** Whichever role deploys, everything belongs to the role that deployed first, which `reset role` must keep. */
async function becomeOwner(client: Client, databaseUrl: string): Promise<Client> {
  const { rows } = await client.query<{ owner: string }>(
    `select pg_get_userbyid(nspowner) as owner from pg_catalog.pg_namespace
     where nspname = 'deployment' and pg_get_userbyid(nspowner) <> current_user`,
  );
  const [other] = rows;
  if (other === undefined) return client;
  await client.end();
  const url = new URL(databaseUrl);
  const options = [url.searchParams.get("options"), `-c role=${other.owner.replaceAll(/[\\\s]/g, "\\$&")}`];
  url.searchParams.set("options", options.filter(Boolean).join(" "));
  const owner = await connect(url.href, "db-deploy");
  await prepareSession(owner);
  return owner;
}

/** Finds the migrations that a database has not run, whether its API has to be rebuilt, and which indexes differ. */
export async function findWork(client: Client, files: DatabaseFiles, options: DeploymentOptions) {
  const { pending, newer } = await compareMigrations(client, files.migrations);
  const deployed = await readDeployed(client);
  const { release, acceptsUnknownRelease } = options;
  const isRecorded =
    deployed?.sha256 === files.sha256 &&
    deployed.commit?.id === release?.commit?.id &&
    deployed.doubt === (release?.doubt ?? null);
  // A deployment can be repeated without the option that it needed, as Compose does when it starts.
  const isRepeated = isRecorded && pending.length === 0;
  const accepts = acceptsUnknownRelease || isRepeated;
  refuseOlderRelease(deployed, newer, { ...options, acceptsUnknownRelease: accepts });
  const drift = await findDrift(client, deployed);
  const changedRights = deployed ? await findChangedRights(client) : [];
  const isDraftKept = options.promises === true && !deployed?.is_promise;
  const isChanged = drift.api !== "same" || changedRights.length > 0;
  const isOutdated = pending.length > 0 || isChanged || deployed?.sha256 !== files.sha256 || isDraftKept;
  const indexes = deployed ? await listIndexChanges(client) : [];
  return { pending, newer, deployed, drift, changedRights, isOutdated, isRecorded, indexes };
}

/**
 * Rebuilds the API in the caller's transaction: files, promises, rules, record, leak check. Slow steps come before the files,
 * because requests wait from then on.
 */
export async function rebuildApi(
  client: Client,
  files: DatabaseFiles,
  options: DeploymentOptions,
  { pending, newer }: Pick<Awaited<ReturnType<typeof findWork>>, "pending" | "newer"> = {
    pending: [],
    newer: [],
  },
): Promise<ContractChange[]> {
  await installLeakCheck(client, files.leakCheck);
  await expectRights(client, files.rights);
  const replaced = await replaceFunctions(client, files.functions, newer.length > 0);
  const before = await hashPublicationFunctions(client);
  await client.query("select data_set.record_indexes($1)", [files.indexes.sql]).catch((error: unknown) => {
    throw describeSqlError(files.indexes, error);
  });
  await refuseLeaksInRows(client);
  await applyApi(client, files, replaced);
  const isReplaced = (await hashPublicationFunctions(client)) !== before;
  if (isReplaced) await installLeakCheck(client, files.leakCheck);
  const served = await readServedContracts(client);
  const changes = await refuseBrokenPromises(client, served, options);
  await refuseBrokenRules(client);
  // A rollback that breaks promises replaces them: the next deployment of the same release need not be told again.
  const is_promise = options.promises === true || changes.some(({ breaks }) => breaks !== undefined);
  const migrations = pending.map(({ id }) => id);
  const done = { migrations, rebuilt_api: true, is_promise, is_rollback: options.rollsBack === true };
  await recordDeployment(client, files, done, options.release);
  if (is_promise) await recordPromise(client, served);
  const rights = options.takesRights ? await readFacts(client) : files.rights;
  await recordRights(client, rights, newer.length > 0);
  await refuseLeaks(client, isReplaced);
  return changes;
}

/** Lists the columns that no source file has had yet. */
async function listAwaitedColumns(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select table_name || '.' || column_name as name from data_set.awaited_columns order by 1",
  );
  return rows.map(({ name }) => name);
}

const driftMessage = [
  "Nothing was deployed: this database was changed by hand since the last deployment.",
  "npm run db:deploy -- --plan lists the changes and how to undo them. To keep them, see docs/recipes.md (Undo drift). To",
  "deploy without undoing them, run npm run db:deploy -- --accept-drift",
].join("\n");
