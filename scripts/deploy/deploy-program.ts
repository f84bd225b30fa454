import path from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { dotenv } from "zx";
import { connect } from "../../shared/connect.ts";
import { describeError } from "../../shared/describe-error.ts";
import { findDatabaseUrl, waitForDatabase } from "../../shared/find-database.ts";
import type { ProcessContext } from "../../shared/process-context.ts";
import { readSecretFiles } from "../../shared/read-secret-files.ts";
import { type EnvironmentName, environments } from "../../shared/timetable.ts";
import { startScratchServer } from "../servers/scratch-database.ts";
import { LeaksFound } from "../sql/check-leaks.ts";
import { hideValues } from "../sql/hide-values.ts";
import { PoolerRefused } from "../sql/session.ts";
import { oldestVersion } from "./check-server.ts";
import {
  type DeploymentOptions,
  DriftFound,
  deployDatabase,
  repositoryDirectory,
} from "./deploy-database.ts";
import { readHistory } from "./deployed.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import {
  describeDeployment,
  describeDrift,
  describeHistory,
  describePlan,
  hasWork,
} from "./describe-deployment.ts";
import { type Plan, planDeployment } from "./plan-deployment.ts";
import { readRelease } from "./release.ts";
import { type LoginRole, loginRoles } from "./role-passwords.ts";

const passwordVariable = (role: LoginRole) => `${role.toUpperCase()}_PASSWORD`;

interface Options {
  wait?: number;
  status?: true;
  plan?: true;
  json?: true;
  promise?: true;
  planHash?: string;
  acceptDrift?: true;
  acceptUnknownRelease?: true;
  rollBack?: true;
  directory: string;
}

/** Runs `npm run db:deploy` to its end. */
export async function runDeploy(context: ProcessContext): Promise<void> {
  const options = readOptions(context.argv);
  try {
    await deploy(context, options);
  } catch (error) {
    hideValues(error);
    context.stderr.write(`db:deploy: ${describeError(error)}\n`);
    const kind = failures.find(([type]) => error instanceof type)?.[1] ?? "failed";
    const failure = { error: { kind, message: describeError(error) } };
    if (options.json) context.stdout.write(`${JSON.stringify(failure, null, 2)}\n`);
    context.exitCode = exitCodes[kind];
  }
}

/** How a run ends. --plan ends with `changes` if there is something to deploy. */
const exitCodes = { done: 0, failed: 1, refused: 1, changes: 3, drift: 4 };

const failures: [type: new (message: string) => Error, kind: "drift" | "refused"][] = [
  // DriftFound is also a DeploymentRefused.
  [DriftFound, "drift"],
  [DeploymentRefused, "refused"],
  [LeaksFound, "refused"],
  [PoolerRefused, "refused"],
];

function judgePlan(plan: Plan, passwords: string[]): keyof typeof exitCodes {
  if (plan.refusal !== undefined) return "refused";
  if (plan.isDriftNew) return "drift";
  return hasWork(plan, passwords) ? "changes" : "done";
}

function readOptions(argv: string[]): Options {
  return new Command("npm run db:deploy --")
    .description(
      "Updates the database to match db/ (migrations, functions, API schemas, indexes), and sets the passwords of roles. Safe to repeat, and safe while requests are served.",
    )
    .option(
      "--wait <time>",
      "how long to wait for a database that is down (default: not at all) and for another deployment (default: until it ends), such as 60s or 2m",
      readTime,
    )
    .option("--status", "show the history of deployments, the newest first")
    .option("--plan", "show what a deployment would do; cannot change the database")
    .option("--plan-hash <hash>", "refuse unless this is still the plan")
    .option(
      "--promise",
      "record what is served as a promise to clients, as ENVIRONMENT=production does; other deployments are drafts",
    )
    .option(
      "--roll-back",
      "deploy an older release, even if that breaks promises, and list what clients lose; migrations stay",
    )
    .option(
      "--accept-unknown-release",
      "deploy files whose commit or history is unknown: uncommitted changes, a shallow clone, no Git",
    )
    .option("--accept-drift", "deploy even if the database was changed by hand, and list those changes")
    .option("--json", 'print JSON; if it fails, {"error": {"kind", "message"}}')
    .addOption(
      new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"),
    )
    .allowExcessArguments(false)
    .addHelpText(
      "after",
      `
The server must be PostgreSQL ${oldestVersion} or newer. Releases have an order: each must contain the commit
that was deployed last, or is refused without --roll-back. The stack of npm start has no releases.

Environment (or .env), defaults in parentheses; for variables with *, <NAME>_FILE can name a file with the value:
  DATABASE_URL *             the database's URL, not a connection pooler's; or PGHOST, PGPORT, PGUSER, PGDATABASE.
                             The user must be a superuser, or own the database and have createrole; for --plan, a
                             member of deployment_planner is enough (docs/operations.md, Rights)
  PGPASSWORD *               that user's password, if it is not in the URL
  AUTHENTICATOR_PASSWORD *, REPORT_SERVICE_PASSWORD *, SITE_PASSWORD *, PUBLISHER_PASSWORD *
                             passwords of the roles that services log in as; if one is not set, the role keeps its password
  ENVIRONMENT                production: every deployment is a promise (--promise). staging, development, preview: a draft
  STACK_DIRECTORY            directory of the running stack to use if no database is named (.stack)
  SCRATCH_URL                another PostgreSQL server, with a superuser's login, on which db/ is built to make a plan or
                             to list drift; if not set, one is started

Exit status: 0 the database matches db/, 1 the deployment failed or was refused, 4 it was refused because of drift.
With --plan: 0 nothing to do, 3 there are changes to deploy, 4 there is drift, 1 the deployment would fail or be refused.`,
    )
    .parse(argv)
    .opts<Options>();
}

async function deploy(context: ProcessContext, options: Options): Promise<void> {
  const { wait, json, planHash } = options;
  const print = (text: string) => void context.stdout.write(`${text}\n`);
  const report = (line: string) => void context.stderr.write(`${line}\n`);
  const variables = readSecretFiles({ ...dotenv.loadSafe(".env"), ...context.env }, [
    "DATABASE_URL",
    "PGPASSWORD",
    ...loginRoles.map(passwordVariable),
  ]);
  let isStack = false;
  const databaseUrl = findDatabaseUrl(variables, (line) => {
    isStack = true;
    report(line);
  });
  await waitForDatabase(databaseUrl, wait ?? 0);
  if (options.status) {
    const client = await connect(databaseUrl, "db-deploy");
    const history = await readHistory(client).finally(() => client.end());
    return print(json ? JSON.stringify(history, null, 2) : describeHistory(history));
  }
  const passwords = Object.fromEntries(loginRoles.map((role) => [role, variables[passwordVariable(role)]]));
  const roles = loginRoles.filter((role) => passwords[role] !== undefined);
  const directory = path.resolve(options.directory);
  const common: DeploymentOptions = {
    directory,
    report,
    release: isStack ? undefined : await readRelease(directory),
    acceptsUnknownRelease: isStack || options.acceptUnknownRelease,
    promises: options.promise || readEnvironment(variables) === "production",
    rollsBack: options.rollBack,
    waitMilliseconds: wait,
  };
  const findPlan = async () => {
    let scratch: Awaited<ReturnType<typeof startScratchServer>> | undefined;
    try {
      const createScratch = async () => {
        scratch ??= await startScratchServer(variables.SCRATCH_URL || undefined);
        return await scratch.create();
      };
      return await planDeployment(databaseUrl, createScratch, common);
    } finally {
      await scratch?.close();
    }
  };
  if (options.plan) {
    const plan = await findPlan();
    print(json ? JSON.stringify({ ...plan, passwords: roles }, null, 2) : describePlan(plan, roles));
    context.exitCode = exitCodes[judgePlan(plan, roles)];
    return;
  }
  const done = await deployDatabase(databaseUrl, passwords, {
    ...common,
    acceptsDrift: async () => {
      // The image has no PostgreSQL, so a scratch server cannot be started there.
      const changes = await findPlan().then(describeDrift, (error) => [
        `The changes that were made by hand cannot be listed here: ${describeError(error)}`,
      ]);
      for (const line of changes) report(line);
      return options.acceptDrift === true;
    },
    confirm: async () => {
      const hash = planHash && (await findPlan()).hash;
      if (hash === planHash) return;
      throw new DeploymentRefused(
        `Nothing was deployed: plan ${planHash} was approved, but the database, the files or the options have changed, and the plan is now ${hash}. Make a new plan, and have it approved.`,
      );
    },
  });
  print(json ? JSON.stringify({ ...done, passwords: roles }, null, 2) : describeDeployment(done, roles));
}

function readEnvironment({ ENVIRONMENT }: NodeJS.ProcessEnv): EnvironmentName | undefined {
  const found = environments.find((name) => name === ENVIRONMENT);
  if (ENVIRONMENT && found === undefined)
    throw new Error(`ENVIRONMENT is ${ENVIRONMENT}. Set it to ${environments.join(", ")}, or unset it.`);
  return found;
}

function readTime(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m)$/.exec(text) ?? [];
  if (amount === undefined) throw new InvalidArgumentError("Enter a duration such as 60s, 2m or 500ms.");
  return Number(amount) * (unit === "m" ? 60_000 : unit === "s" ? 1_000 : 1);
}
