import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { connect } from "../../shared/connect.ts";
import { describeError } from "../../shared/describe-error.ts";
import { holderFile } from "../../shared/find-running-stack.ts";
import { deployDatabase } from "../deploy/deploy-database.ts";
import { findFiles } from "../refresh/find-files.ts";
import { writeReportPdfs } from "../sample/write-report-pdfs.ts";
import { generateSample } from "../sample/write-sample.ts";
import { choosePorts, type StackConfig } from "./config.ts";
import { keepLedger } from "./keep-ledger.ts";
import { lockDirectory } from "./lock-directory.ts";
import { openLog } from "./open-log.ts";
import { listAddresses, type PartContext, startApi, startApp, startDatabase, startGateway } from "./parts.ts";
import { findWithdrawnSource, hasData, publishData, writeBulkFiles } from "./publish-data.ts";
import { makeSampleKeys } from "./sample-keys.ts";
import { readOrCreateSecrets, writePrivateJson } from "./secrets.ts";

/** How to reach a running stack: the content of `stack.json`. */
export interface StackFacts {
  base_url: string;
  app_url: string;
  /** As the database's superuser. */
  database_url: string;
  postgrest_url: string;
  keys: { demo: string; individual: string; tribal: string };
  /** Report IDs to try; null if the data set has none of that kind. */
  sample: { public_report_id: string | null; suppressed_report_id: string | null };
  pid: number;
}

interface Stack {
  /** Resolves when everything but the bulk files is ready. Rejects with an error that says what to do. */
  ready: Promise<StackFacts>;
  /** Resolves to the last lines of output of a part that has ended. */
  failed: Promise<string>;
  /** Stops every part that was started, the last one first. */
  stop: () => Promise<void>;
}

interface StackOptions {
  config: StackConfig;
  /** Whether to remove what earlier runs left in the directory. */
  isFresh?: boolean | undefined;
  /** CSV files to publish instead of the generated sample. */
  dataDirectory?: string | undefined;
  report: (line: string) => void;
}

const chooseSampleReports = `
select
  (select report_id from disclosed.general limit 1) as public_report_id,
  (select report_id from suppressed.general limit 1) as suppressed_report_id`;

/**
 * Starts the whole service on this machine: PostgreSQL, PostgREST, the gateway, and the report service, each in a
 * process of its own.
 */
export function startStack(options: StackOptions): Stack {
  const stops: (() => Promise<unknown>)[] = [];
  let fail: (description: string) => void = () => {};
  const failed = new Promise<string>((resolve) => {
    fail = resolve;
  });
  let stopping = false;
  const onStop = (stopPart: () => Promise<unknown>) => {
    // A part that starts while the stack stops is stopped at once.
    if (stopping) void stopPart();
    else stops.push(stopPart);
  };
  const stop = async () => {
    stopping = true;
    for (const stopPart of stops.splice(0).reverse()) await stopPart();
  };
  const ready = prepare(options, onStop).then((context) =>
    startParts({ ...context, onStop, fail }, options.dataDirectory),
  );
  return { ready, failed, stop };
}

/** Locks the directory, and fails early on problems that would stop a later step. */
async function prepare(
  { config: wanted, isFresh, dataDirectory, report }: StackOptions,
  onStop: PartContext["onStop"],
): Promise<Omit<PartContext, "onStop" | "fail">> {
  const { STACK_DIRECTORY: directory } = wanted;
  await mkdir(directory, { recursive: true });
  // PostgreSQL's unprivileged user must be able to enter it. Secrets in it have mode 0600.
  await chmod(directory, 0o711);
  onStop(await lockDirectory(directory));
  const left = (await readdir(directory)).map((name) => path.join(directory, name));
  for (const each of isFresh ? left : [])
    if (each !== holderFile(directory)) await rm(each, { recursive: true, force: true });
  const config = await choosePorts(wanted);
  if (dataDirectory !== undefined) await findFiles(dataDirectory);
  const secrets = await readOrCreateSecrets(directory);
  const log = await openLog(path.join(directory, "stack.log"));
  return { config, addresses: listAddresses(config), secrets, report, log };
}

/** Starts the parts, in parallel where they do not depend on each other. */
async function startParts(context: PartContext, dataDirectory: string | undefined): Promise<StackFacts> {
  const { config, addresses, secrets, report, onStop } = context;
  const inDirectory = (name: string) => path.join(config.STACK_DIRECTORY, name);
  const [reports, publicData] = [inDirectory("reports"), inDirectory("public-data")];
  for (const each of [reports, publicData]) await mkdir(each, { recursive: true, mode: 0o700 });

  const startDatabaseAndApi = async () => {
    const databaseUrl = await startDatabase(context);
    const client = await connect(databaseUrl, "stack");
    onStop(() => client.end());
    const isFirst = !(await hasData(client));
    const prepareSource = async () => {
      const source = dataDirectory ?? inDirectory("sample");
      if (dataDirectory === undefined) {
        if (!isFirst) return undefined;
        report("Generating the sample data ...");
        await generateSample(client, { directory: source });
      }
      // Runs before the data is published, so that the next start repeats it if this one is interrupted.
      await writeReportPdfs(source, reports);
      return source;
    };
    const isOwn = config.DATABASE_URL === undefined;
    await deployDatabase(databaseUrl, secrets.rolePasswords, {
      acceptsUnknownRelease: isOwn,
      // The stack's own PostgreSQL stops if the start fails, so nobody could undo changes made by hand.
      acceptsDrift: () => isOwn,
    });
    await keepLedger(context, databaseUrl, inDirectory("ledger"));
    const source = await prepareSource();
    const publishAndServe = async () => {
      if (source !== undefined) await publishData(client, source, report);
      await startApi(context, databaseUrl);
    };
    await Promise.all([publishAndServe(), startApp(context, databaseUrl, { reports, publicData })]);
    return { databaseUrl, client };
  };
  const [{ databaseUrl, client }] = await Promise.all([startDatabaseAndApi(), startGateway(context)]);
  const sampleKeys = await makeSampleKeys(client, secrets.sampleKeys);
  await writePrivateJson(inDirectory("secrets.json"), { ...secrets, sampleKeys });
  const facts: StackFacts = {
    base_url: addresses.gateway,
    app_url: addresses.app,
    database_url: databaseUrl,
    postgrest_url: addresses.postgrest,
    keys: { demo: "DEMO_KEY", ...sampleKeys },
    sample: (await client.query(chooseSampleReports)).rows[0],
    pid: process.pid,
  };
  await writePrivateJson(inDirectory("stack.json"), facts);
  onStop(() => rm(inDirectory("stack.json"), { force: true }));
  const withdrawn = await findWithdrawnSource(client);
  let isStopping = false;
  const written = writeBulkFiles(client, publicData).then(
    () => report(withdrawn === undefined ? "The bulk files are ready." : explainWithdrawal(withdrawn)),
    (error) => isStopping || report(`The bulk files could not be written: ${describeError(error)}.`),
  );
  onStop(async () => {
    isStopping = true;
    // Cancels the writing of bulk files.
    await client.end();
    await written;
  });
  return facts;
}

const explainWithdrawal = (source: string) =>
  `Requests get 503: the data set showed reports that were suppressed later, so it was withdrawn. To publish its files again without them, run npm run refresh -- --from ${source}`;
