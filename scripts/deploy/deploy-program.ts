import path from "node:path";
import { createInterface } from "node:readline/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { dotenv } from "zx";
import { describeError } from "../../service/describe-error.ts";
import { readSecretFiles } from "../../service/read-secret-files.ts";
import type { Surroundings } from "../../service/surroundings.ts";
import { startScratchServer } from "../servers/scratch-database.ts";
import { PoolerRefused } from "../sql/keep-session.ts";
import { oldestVersion } from "./check-server.ts";
import { type DeploymentOptions, deployDatabase, repositoryDirectory } from "./deploy-database.ts";
import { describeDeployment, describePlan } from "./describe-deployment.ts";
import { withApiOf } from "./extract-api.ts";
import { findDatabaseUrl, waitForDatabase } from "./find-database.ts";
import { type Drift, isDrifted } from "./find-drift.ts";
import { type Plan, planDeployment } from "./plan-deployment.ts";
import { DeploymentRefused } from "./refuse-early-removal.ts";
import { DriftFound, describeDrift } from "./repair-drift.ts";
import { type LoginRole, loginRoles } from "./set-role-passwords.ts";

const passwordVariables: Record<LoginRole, string> = {
  authenticator: "AUTHENTICATOR_PASSWORD",
  report_service: "REPORT_SERVICE_PASSWORD",
  publisher: "PUBLISHER_PASSWORD",
};

interface Options {
  wait?: number;
  plan?: true;
  json?: true;
  apiFrom?: string;
  acceptDrift?: true;
  rollBackApi?: true;
  directory: string;
}

/** Runs `npm run db:deploy` to its end. */
export async function runDeploy(around: Surroundings): Promise<void> {
  const options = readOptions(around.argv);
  try {
    await deploy(around, options);
  } catch (error) {
    around.stderr.write(`db:deploy: ${describeError(error)}\n`);
    if (options.json) around.stdout.write(`${JSON.stringify({ error: tellError(error) }, null, 2)}\n`);
    around.exitCode = error instanceof DriftFound ? 4 : 1;
  }
}

/** For pipelines: of what kind an error is, what it says, and the drift that it is about. */
function tellError(error: unknown) {
  const message = describeError(error);
  if (error instanceof DriftFound) return { kind: "drift", message, drift: error.drift };
  const isRefused = error instanceof DeploymentRefused || error instanceof PoolerRefused;
  return { kind: isRefused ? "refused" : "failed", message };
}

function readOptions(argv: string[]): Options {
  return new Command("npm run db:deploy --")
    .description(
      "Brings the database to the state of db/: migrations, role passwords, API schemas. Safe to repeat, and while requests are served.",
    )
    .option(
      "--wait <time>",
      "how long to wait for a database that is away (without it, not at all), and for another deployment (without it, as long as that runs), such as 60s or 2m",
      readTime,
    )
    .option("--plan", "only say what would be done; cannot change the database")
    .option("--accept-drift", "put back what somebody has changed since the last deployment, and go on")
    .option("--roll-back-api", "deploy files of db/api that were deployed before, and replaced since")
    .option(
      "--api-from <commit>",
      "put the API schemas back to what a git commit has; migrations stay as they are",
    )
    .option("--json", 'print JSON; of a failure, {"error": {"kind", "message", "drift"}}')
    .addOption(
      new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"),
    )
    .allowExcessArguments(false)
    .addHelpText(
      "after",
      `
The server: PostgreSQL ${oldestVersion} or newer.

Environment (or .env); * may also stand in a file that <NAME>_FILE names:
  DATABASE_URL *             the database, as its owner with createrole, or as superuser; or PGHOST, PGPORT, PGUSER,
                             PGDATABASE. For --plan, a member of deployment_planner is enough (docs/operations.md, Rights).
                             Not the address of a connection pooler
  PGPASSWORD *               that role's password, if not in the address
  AUTHENTICATOR_PASSWORD *, REPORT_SERVICE_PASSWORD *, PUBLISHER_PASSWORD *
                             passwords of the roles that services log in as; what is unset stays as it is
  STACK_DIRECTORY            without an address, the database of the stack that runs on this directory (.stack)
  SCRATCH_URL                for --plan, another PostgreSQL server to make what db/ makes on, as superuser; else one is started

Exit status: 0 the database is in the state of db/, 1 it is not: the deployment failed or was refused, 4 it was refused
because of drift.
With --plan: 0 nothing to do, 3 there are changes to deploy, 4 there is drift, 1 the deployment would fail or be refused.`,
    )
    .parse(argv)
    .opts<Options>();
}

async function deploy(around: Surroundings, options: Options): Promise<void> {
  const { wait, plan, json, apiFrom, acceptDrift, rollBackApi, directory } = options;
  const print = (text: string) => void around.stdout.write(`${text}\n`);
  const variables = readSecretFiles({ ...dotenv.loadSafe(".env"), ...around.env }, [
    "DATABASE_URL",
    "PGPASSWORD",
    ...Object.values(passwordVariables),
  ]);
  const report = (line: string) => void around.stderr.write(`${line}\n`);
  const databaseUrl = findDatabaseUrl(variables, report);
  await waitForDatabase(databaseUrl, wait ?? 0);
  const passwords = Object.fromEntries(
    loginRoles.flatMap((role) => {
      const password = variables[passwordVariables[role]];
      return password === undefined ? [] : [[role, password]];
    }),
  );
  const act = async (apiDirectory?: string) => {
    const common = {
      directory: path.resolve(directory),
      report,
      ...(apiDirectory && { apiDirectory }),
      ...(wait !== undefined && { waitMilliseconds: wait }),
      rollsBackApi: rollBackApi === true || apiFrom !== undefined,
    };
    if (plan) {
      const scratchUrl = variables.SCRATCH_URL || undefined;
      const { found, exitCode } = await findPlan(databaseUrl, scratchUrl, common);
      print(json ? JSON.stringify(found, null, 2) : describePlan(found));
      around.exitCode = exitCode;
      return;
    }
    const acceptsDrift = (drift: Drift) => acceptDrift ?? askAboutDrift(around, drift);
    const done = await deployDatabase(databaseUrl, passwords, { ...common, acceptsDrift, compare: true });
    const roles = Object.keys(passwords);
    print(json ? JSON.stringify({ ...done, passwords: roles }, null, 2) : describeDeployment(done, roles));
  };
  if (apiFrom === undefined) await act();
  else await withApiOf(directory, apiFrom, act);
}

async function findPlan(
  databaseUrl: string,
  serverUrl: string | undefined,
  options: DeploymentOptions,
): Promise<{ found: Plan; exitCode: number }> {
  const scratch = await startScratchServer(serverUrl);
  try {
    const found = await planDeployment(databaseUrl, await scratch.create(), options);
    const isPending = found.migrations.length > 0 || found.apiSchemasChanged;
    const exitCode = found.refusal !== undefined ? 1 : isDrifted(found.drift) ? 4 : isPending ? 3 : 0;
    return { found, exitCode };
  } finally {
    await scratch.close();
  }
}

/** Whoever sits at a terminal decides; nobody does in a pipeline. */
async function askAboutDrift({ stdin, stderr }: Surroundings, drift: Drift): Promise<boolean> {
  if (!stdin.isTTY || !stderr.isTTY) return false;
  stderr.write(`${describeDrift(drift).join("\n")}\n`);
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question("Put this back to what was deployed? [y/N] ")).trim());
  } finally {
    terminal.close();
  }
}

function readTime(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m)$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError("It should be a time such as 60s, 2m or 500ms.");
  return Number(amount) * (unit === "m" ? 60_000 : unit === "s" ? 1_000 : 1);
}
