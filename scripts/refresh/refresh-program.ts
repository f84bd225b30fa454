import { Command, InvalidArgumentError, Option } from "commander";
import type { Client } from "pg";
import { pino } from "pino";
import { dotenv } from "zx";
import { openObjects } from "../../shared/objects/open-objects.ts";
import { awsSecrets } from "../../shared/objects/read-s3-options.ts";
import type { ProcessContext } from "../../shared/process-context.ts";
import { readSecretFiles } from "../../shared/read-secret-files.ts";
import { closeOnSignal } from "../../shared/run-until-signal.ts";
import { findOperator, readOperator } from "../access/operator.ts";
import { signalLoss, withPublisher } from "./connect-publisher.ts";
import { explainFailure } from "./explain-failure.ts";
import { beginLedger, continueLedger, withdrawnMessage } from "./ledger.ts";
import { lockPublication, RefreshIsRunning } from "./lock-publication.ts";
import { formatHistory, readHistory } from "./read-history.ts";
import { type RefreshConfig, readRefreshConfig } from "./refresh-config.ts";
import { explainThatLive, type RefreshOptions, refreshDataSet } from "./refresh-data-set.ts";
import { rollBack } from "./roll-back.ts";
import { warmTables } from "./warm-tables.ts";
import { publishManifest } from "./write-public-files.ts";

type Options = Omit<RefreshOptions, "from"> & {
  from?: string;
  status?: true;
  json?: true;
  rollback?: true;
  release?: string;
  operator: string;
  newLedger?: string;
  continueLedger?: string | true;
  requests?: "on" | "off";
  schedule?: true;
};

/** Runs `npm run refresh` to its end. */
export async function runRefreshProgram(context: ProcessContext): Promise<void> {
  const command = createCommand(context.env).parse(context.argv);
  try {
    // The S3 client looks for its credentials in process.env.
    context.env = readSecretFiles({ ...dotenv.loadSafe(".env"), ...context.env }, awsSecrets);
    await run(context, readRefreshConfig(context.env), command);
  } catch (error) {
    context.stderr.write(`${explainFailure(error)}\n`);
    context.exitCode = error instanceof RefreshIsRunning ? 3 : 1;
  }
}

function createCommand(env: NodeJS.ProcessEnv): Command {
  return new Command("npm run refresh --")
    .description(
      "Loads a data set from CSV files, checks it, and replaces the live data set with it, all or nothing.",
    )
    .option(
      "--from <place>",
      "publish these files: a directory or s3://bucket/prefix with <table>.csv[.gz] or *-<table>.csv[.gz] (REFRESH_SOURCE)",
    )
    .option("--tolerate <rows>", "leave out up to this many faulty rows", parseWhole, 0)
    .option(
      "--rejects <file>",
      "file for the rows that are left out, with their values; only you can read it (mode 0600)",
      "rejects.csv",
    )
    .option(
      "--accept-shrink",
      "publish even if a table has lost rows, or the share of suppressed submissions has changed",
    )
    .option("--accept-growth", "publish even if a table has more than doubled")
    .option("--force", "publish even files that are live already, or were rolled back")
    .option("--dry-run", "read and check the files, say what would be published, and change nothing")
    .option("--rollback", "make the previous data set live again")
    .option("--release <report-id>", "let a report that was suppressed be public, from the next refresh on")
    .option(
      "--operator <name>",
      "with --release: your name, for the audit log",
      readOperator,
      findOperator(env),
    )
    .option(
      "--new-ledger <place>",
      "start a ledger of suppressions and revocations in an empty directory or s3://bucket/prefix",
    )
    .option(
      "--continue-ledger [place]",
      "after a restore: read the ledger, and make this database the only one that writes to it",
    )
    .option("--status", "show what was published")
    .option("--json", "with --status: print JSON")
    .addOption(
      new Option("--requests <state>", "switch the service on or off (off: 503)").choices(["on", "off"]),
    )
    .option("--schedule", "run as a service that refreshes on the environment's schedule")
    .allowExcessArguments(false)
    .addHelpText(
      "after",
      `
Environment (or .env), defaults in parentheses; for variables with *, <NAME>_FILE can name a file with the value:
  PUBLISHER_DATABASE_URL *        URL of the database, with the login of the publisher role; or DATABASE_URL *, or PGHOST, …
  PUBLISHER_DATABASE_PASSWORD *   the role's password, if not in the URL
  STACK_DIRECTORY                 directory of the running stack to use if none of these is set (.stack)
  REFRESH_SOURCE                  where to read the files if --from is not given
  PUBLIC_DATA                     directory or s3://bucket/prefix for the bulk files (default: the running stack's, if it is used)
  S3_ENDPOINT, S3_REGION, S3_FORCE_PATH_STYLE, AWS_ACCESS_KEY_ID *, AWS_SECRET_ACCESS_KEY *, …
                                  for s3:// URLs
  LEDGER_ACCESS_KEY_ID *, LEDGER_SECRET_ACCESS_KEY *
                                  the ledger's own credentials, if it has any
With --schedule:
  ENVIRONMENT (development)       production: Wednesdays 5 a.m. Eastern; staging: daily 5 a.m. Eastern; development: no
                                  schedule; preview: no schedule, and the API is off until you switch it on (--requests on)
  REFRESH_HOST (127.0.0.1), REFRESH_PORT (8007)
                                  where /healthz and /metrics are served

Exit status: 0 done or nothing to do, 1 failed (--status shows which data set is live), 3 another refresh is running.`,
    );
}

async function run(context: ProcessContext, config: RefreshConfig, command: Command): Promise<void> {
  const options = command.opts<Options>();
  const from = options.from ?? config.source;
  const print = (line: string) => void context.stdout.write(`${line}\n`);
  const report = (line: string) => void context.stderr.write(`${line}\n`);
  const asPublisher = <Result>(work: (client: Client) => Promise<Result>) =>
    withPublisher(config.database, work, undefined, report);
  const { release, requests } = options;
  if (options.status) {
    const entries = await asPublisher((client) => readHistory(client, 20));
    print(options.json ? JSON.stringify(entries, null, 2) : formatHistory(entries));
  } else if (options.rollback) {
    await asPublisher((client) => runRollback(client, config, print));
  } else if (release !== undefined) {
    await asPublisher(async (client) => {
      await client.query("select set_config('access.operator', $1, false)", [options.operator]);
      await lockPublication(client, () => client.query("select publication.release_report($1)", [release]));
    });
    print(`Released ${release}. The next refresh makes it public if the source files mark it as public.`);
  } else if (options.newLedger !== undefined || options.continueLedger !== undefined) {
    const { newLedger, continueLedger: place } = options;
    const work = (client: Client) =>
      newLedger === undefined
        ? continueLedger(client, place === true ? undefined : place, config.storage)
        : beginLedger(client, newLedger, config.storage);
    const { withdrawn } = await asPublisher((client) => lockPublication(client, () => work(client)));
    print("This database now has all entries of the ledger, and is the only one that writes to it.");
    if (withdrawn) print(withdrawnMessage);
  } else if (requests !== undefined) {
    await asPublisher((client) => client.query(switchRequests, [requests === "on"]));
    print(requests === "on" ? "The service is on." : "The service is off: requests get 503.");
  } else if (options.schedule) {
    const { startSchedule } = await import("./start-schedule.ts");
    // A signal cancels a running refresh: its transaction is rolled back, and the live data set stays.
    closeOnSignal(await startSchedule({ ...config, source: from }, pino({ name: "refresh" })));
  } else if (from === undefined) {
    command.error("error: set --from (or REFRESH_SOURCE) to the files to publish");
  } else {
    const { publicData, storage } = config;
    const wanted = { ...options, from, publicData, storage, report };
    await asPublisher((client) => runRefresh(client, wanted, print));
  }
}

const switchRequests =
  "update publication.settings set is_switched_on = $1, changed_at = now(), changed_by = session_user";

async function runRefresh(
  client: Client,
  options: RefreshOptions,
  print: (line: string) => void,
): Promise<void> {
  const start = performance.now();
  const done = await refreshDataSet(client, options);
  if (done.outcome === "skipped") return print(done.reason);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  print(
    done.outcome === "checked"
      ? `Dry run finished in ${seconds} s. Nothing has changed. A refresh would publish:`
      : `Published data set ${done.id} in ${seconds} s.`,
  );
  for (const [table, { disclosed, suppressed }] of Object.entries(done.counts))
    print(`  ${table}: ${disclosed} public rows, ${suppressed} suppressed`);
  if (options.publicData === undefined) print(noBulkFiles);
}

const noBulkFiles =
  "No bulk files are written, because PUBLIC_DATA is not set. If the app serves bulk files, requests for them get 503 until a refresh with PUBLIC_DATA has run.";

async function runRollback(
  client: Client,
  { publicData, storage }: RefreshConfig,
  print: (line: string) => void,
): Promise<void> {
  const start = performance.now();
  const id = await rollBack(client, storage);
  const seconds = ((performance.now() - start) / 1000).toFixed(2);
  print(`Data set ${id} is live again (${seconds} s). Another --rollback undoes this.`);
  // Until this has run, requests for bulk files get 503.
  if (publicData === undefined) print(noBulkFiles);
  else
    await publishManifest(
      client,
      await openObjects(publicData, { ...storage, signal: signalLoss(client) }),
    ).catch(explainThatLive);
  await warmTables(client, print);
}

function parseWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("Enter a whole number.");
  return Number(text);
}
