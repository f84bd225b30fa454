import { chmod, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { pino } from "pino";
import { findFiles } from "../refresh/find-files.ts";
import { type StackConfig, settlePorts } from "./config.ts";
import { checkRedis, locateKong } from "./kong.ts";
import { lockDirectory } from "./lock-directory.ts";
import {
  type PartContext,
  prepareDatabase,
  startApi,
  startApp,
  startDatabase,
  startGateway,
  startStorage,
} from "./parts.ts";
import { publishData } from "./publish-data.ts";
import { rotateLogs } from "./rotate-logs.ts";
import { makeSampleKeys } from "./sample-keys.ts";
import { readOrCreateSecrets, writePrivateJson } from "./secrets.ts";
import type { Supervision } from "./supervise.ts";

/** What a running stack is reached by: the content of `stack.json`. */
export interface StackFacts {
  base_url: string;
  app_url: string;
  /** As the database's superuser. */
  database_url: string;
  postgrest_url: string;
  keys: { demo: string; individual: string; tribal: string };
  /** Report IDs to try; null where the data set has none of the kind. */
  sample: { public_report_id: string | null; suppressed_report_id: string | null };
  pid: number;
}

export interface Stack {
  /** Resolves when everything serves; rejects with what a person can do about it. */
  ready: Promise<StackFacts>;
  /** Resolves to a description when a part that must not end has ended by itself. */
  failed: Promise<string>;
  /** Stops every part that was started, the last one first. */
  stop: () => Promise<void>;
}

export interface StackOptions {
  config: StackConfig;
  /** CSV files to publish in place of the generated sample. */
  dataDirectory?: string | undefined;
  report: (line: string) => void;
}

const demonstrationKey = "DEMO_KEY";

/**
 * Starts the whole service on this machine: PostgreSQL, PostgREST, the gateway, the report service and its
 * storage, each in a process of its own. Restarts a process that ends.
 */
export function startStack(options: StackOptions): Stack {
  const stops: (() => Promise<unknown>)[] = [];
  let fail: (description: string) => void = () => {};
  const failed = new Promise<string>((resolve) => {
    fail = resolve;
  });
  let isStopping = false;
  const onStop = (stopPart: () => Promise<unknown>) => {
    // What is begun while the stack stops is stopped at once.
    if (isStopping) void stopPart();
    else stops.push(stopPart);
  };
  const stop = async () => {
    isStopping = true;
    for (const stopPart of stops.splice(0).reverse()) await stopPart();
  };
  const supervision = { report: options.report, onStop, fail };
  const ready = prepare(options, supervision).then((context) => startParts(context, options.dataDirectory));
  return { ready, failed, stop };
}

/** Takes the directory, and finds out early what would stop a later part. */
async function prepare(
  { config: wanted, dataDirectory }: StackOptions,
  supervision: Supervision,
): Promise<PartContext> {
  const { onStop } = supervision;
  const { directory } = wanted;
  await mkdir(directory, { recursive: true });
  // PostgreSQL's unprivileged user passes through; what is secret in here has mode 0600.
  await chmod(directory, 0o711);
  onStop(await lockDirectory(directory));
  const config = await settlePorts(wanted);
  if (dataDirectory !== undefined) await findFiles(dataDirectory);
  // Looked for here, so that nobody waits for a database first.
  const kong = config.GATEWAY === "kong" ? await locateKong(config.KONG_BIN) : undefined;
  if (kong !== undefined && /\s/.test(directory))
    throw new Error(
      `Kong cannot run in a directory with a space in its path: ${directory}. Set STACK_DIRECTORY to a path without spaces.`,
    );
  if (kong !== undefined && config.redis !== undefined) await checkRedis(config.redis);
  const secrets = await readOrCreateSecrets(directory);
  const log = path.join(directory, "stack.log");
  const { logger, logLine } = openLog(log);
  // Without --gateway kong the last two are not there.
  onStop(
    rotateLogs([log, ...["access.log", "error.log"].map((it) => path.join(directory, "kong/logs", it))]).stop,
  );
  return { config, secrets, logger, logLine, kong, ...supervision };
}

/** Starts the parts: first what others need. */
async function startParts(context: PartContext, dataDirectory: string | undefined): Promise<StackFacts> {
  const { config, secrets, report, onStop } = context;
  const { directory } = config;
  const reports = path.join(directory, "reports");
  const publicData = path.join(directory, "public-data");

  const databaseUrl = await startDatabase(context);
  const client = await prepareDatabase(context, databaseUrl);
  await publishData(client, { directory, dataDirectory, reports, publicData, report });
  const sampleKeys = await makeSampleKeys(client, secrets.sampleKeys);
  await writePrivateJson(path.join(directory, "secrets.json"), { ...secrets, sampleKeys });

  const [postgrestUrl, gatewayUrl, storageUrl] = await Promise.all([
    startApi(context, databaseUrl),
    startGateway(context),
    startStorage(context, reports),
  ]);
  const appUrl = await startApp(context, { databaseUrl, storageUrl, gatewayUrl }, publicData);

  const facts: StackFacts = {
    base_url: gatewayUrl,
    app_url: appUrl,
    database_url: databaseUrl,
    postgrest_url: postgrestUrl,
    keys: { demo: demonstrationKey, ...sampleKeys },
    sample: await chooseSampleReports(client),
    pid: process.pid,
  };
  await client.end();
  await writePrivateJson(path.join(directory, "stack.json"), facts);
  onStop(() => rm(path.join(directory, "stack.json"), { force: true }));
  return facts;
}

/** A full disk costs lines of the log, and not the service. */
function openLog(dest: string): Pick<PartContext, "logger" | "logLine"> {
  const destination = pino.destination({ dest, mode: 0o600, maxLength: 1 << 20 });
  destination.on("error", () => {});
  return { logger: pino(destination), logLine: (line) => void destination.write(`${line}\n`) };
}

async function chooseSampleReports(client: Client): Promise<StackFacts["sample"]> {
  const { rows } = await client.query<StackFacts["sample"]>(
    `select (select report_id from disclosed.general limit 1) as public_report_id,
            (select report_id from suppressed.general limit 1) as suppressed_report_id`,
  );
  return rows[0] ?? { public_report_id: null, suppressed_report_id: null };
}
