import { chmod, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { type Logger, pino } from "pino";
import { startEmbeddedGateway } from "../../gateway/embedded/start-embedded-gateway.ts";
import { serveSyncState } from "../../gateway/serve-sync-state.ts";
import { startSync } from "../../gateway/start-sync.ts";
import { describeSite } from "../../report-service/config.ts";
import { startLocalStorage } from "../../report-service/start-local-storage.ts";
import { startReportService } from "../../report-service/start-report-service.ts";
import { connect } from "../../service/connect.ts";
import { deployDatabase } from "../deploy/deploy-database.ts";
import { describeError, waitForDatabase } from "../deploy/find-database.ts";
import type { LoginRole } from "../deploy/set-role-passwords.ts";
import { findFiles } from "../refresh/find-files.ts";
import type { ChildProcess } from "./child-process.ts";
import { type StackConfig, settlePorts } from "./config.ts";
import { checkRedis, locateKong, probeKong, startKong } from "./kong.ts";
import { lockDirectory } from "./lock-directory.ts";
import { startPostgres } from "./postgres.ts";
import { startPostgrest } from "./postgrest.ts";
import { publishData } from "./publish-data.ts";
import { makeSampleKeys } from "./sample-keys.ts";
import { readOrCreateSecrets, type Secrets, writePrivateJson } from "./secrets.ts";

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
const stopGraceMilliseconds = 2000;

/**
 * Starts the whole service on this machine: PostgreSQL, PostgREST, the gateway and its sync, the report service
 * and its storage.
 */
export function startStack(options: StackOptions): Stack {
  const stops: (() => Promise<unknown>)[] = [];
  let noteFailure: (description: string) => void;
  const failed = new Promise<string>((resolve) => {
    noteFailure = resolve;
  });
  let stopping = false;
  const keep = (child: ChildProcess) => {
    stops.push(() => child.stop(stopGraceMilliseconds));
    void child.ended.then((description) => {
      if (!stopping) noteFailure(description);
    });
  };
  const stop = async () => {
    stopping = true;
    for (const stopPart of stops.splice(0).reverse()) await stopPart();
  };
  return { ready: startParts(options, stops, keep), failed, stop };
}

async function startParts(
  { config: wanted, dataDirectory, report }: StackOptions,
  stops: (() => Promise<unknown>)[],
  keep: (child: ChildProcess) => void,
): Promise<StackFacts> {
  const { directory } = wanted;
  await mkdir(directory, { recursive: true });
  // PostgreSQL's unprivileged user passes through; what is secret in here has mode 0600.
  await chmod(directory, 0o711);
  stops.push(await lockDirectory(directory));
  const config = await settlePorts(wanted);
  if (dataDirectory !== undefined) await findFiles(dataDirectory);
  // Looked for here, so that nobody waits for a database first.
  const kong = config.GATEWAY === "kong" ? await locateKong(config.KONG_BIN) : undefined;
  if (kong !== undefined && config.redis !== undefined) await checkRedis(config.redis);
  const secrets = await readOrCreateSecrets(directory);
  const logger = openLog(path.join(directory, "stack.log"));
  const logOf = (service: string) => {
    const child = logger.child({ service });
    return (line: string) => child.info(line);
  };

  let databaseUrl = config.DATABASE_URL;
  if (databaseUrl === undefined) {
    const { DATABASE_PORT: port, DATABASE_MEMORY: memory } = config;
    const log = logOf("postgresql");
    const postgres = await startPostgres(directory, port, secrets.superuserPassword, keep, memory, log);
    databaseUrl = postgres;
    report("PostgreSQL is ready.");
  } else {
    await waitForDatabase(databaseUrl, 0).catch((cause) => {
      throw new Error(`The database of DATABASE_URL cannot be used: ${describeError(cause)}.`, { cause });
    });
  }
  await deployDatabase(databaseUrl, secrets.rolePasswords);
  const client = await connect(databaseUrl, "stack");
  stops.push(() => client.end().catch(() => {}));
  const reports = path.join(directory, "reports");
  const publicData = path.join(directory, "public-data");
  await publishData(client, { directory, dataDirectory, reports, publicData, report });
  const sampleKeys = await makeSampleKeys(client, secrets.sampleKeys);
  await writePrivateJson(path.join(directory, "secrets.json"), { ...secrets, sampleKeys });

  const postgrestUrl = await startPostgrest(
    {
      binary: config.POSTGREST_BIN,
      databaseUrl: asRole(databaseUrl, "authenticator", secrets),
      jwtSecret: secrets.jwtSecret,
      port: config.POSTGREST_PORT,
      adminPort: config.POSTGREST_ADMIN_PORT,
      log: logOf("postgrest"),
    },
    keep,
  );
  report("PostgREST is ready.");

  const gatewayUrl = await startGateway(config, kong, logger, stops, keep);
  const sync = await startSync({
    database: { connectionString: asRole(databaseUrl, "gateway_sync", secrets) },
    adminUrls: [`http://127.0.0.1:${config.GATEWAY_ADMIN_PORT}`],
    postgrestUrl,
    jwtSecret: secrets.jwtSecret,
    redis: config.redis,
    logger: logger.child({ service: "gateway-sync" }),
  });
  stops.push(sync.close);
  await sync.firstDelivery;
  if (kong !== undefined) {
    await probeKong(gatewayUrl);
    report("Kong is ready.");
  }
  if (config.GATEWAY_SYNC_PORT !== undefined) {
    const state = await serveSyncState(sync, { host: "127.0.0.1", port: config.GATEWAY_SYNC_PORT });
    stops.push(state.close);
  }

  const secret = secrets.storageSigningSecret;
  const storage = await startLocalStorage({
    host: "127.0.0.1",
    port: config.STORAGE_PORT,
    directory: reports,
    secret,
    logger: logger.child({ service: "local-storage" }),
  });
  stops.push(storage.close);
  const reportService = await startReportService({
    host: "127.0.0.1",
    port: config.APP_PORT,
    metrics:
      config.APP_METRICS_PORT === undefined
        ? undefined
        : { host: "127.0.0.1", port: config.APP_METRICS_PORT },
    database: { connectionString: asRole(databaseUrl, "report_service", secrets) },
    storage: { kind: "local", url: storage.url, secret },
    publicData: { location: publicData },
    site: describeSite({ ...config, API_URL: gatewayUrl }),
    logger: logger.child({ service: "report-service" }),
  });
  stops.push(reportService.close);

  const facts: StackFacts = {
    base_url: gatewayUrl,
    app_url: reportService.url,
    database_url: databaseUrl,
    postgrest_url: postgrestUrl,
    keys: { demo: demonstrationKey, ...sampleKeys },
    sample: await chooseSampleReports(client),
    pid: process.pid,
  };
  await writePrivateJson(path.join(directory, "stack.json"), facts);
  stops.push(() => rm(path.join(directory, "stack.json"), { force: true }));
  return facts;
}

/** A full disk costs lines of the log, and not the service. */
function openLog(dest: string): Logger {
  const destination = pino.destination({ dest, mode: 0o600, maxLength: 1 << 20 });
  destination.on("error", () => {});
  return pino(destination);
}

/** Starts the embedded gateway, or a natively installed Kong in its place. Both wait for the sync. */
async function startGateway(
  config: StackConfig,
  kong: string | undefined,
  logger: Logger,
  stops: (() => Promise<unknown>)[],
  keep: (child: ChildProcess) => void,
): Promise<string> {
  if (kong !== undefined) {
    const { proxyUrl } = await startKong(
      {
        program: kong,
        prefix: path.join(config.directory, "kong"),
        port: config.GATEWAY_PORT,
        adminPort: config.GATEWAY_ADMIN_PORT,
        trustedIps: config.TRUSTED_IPS,
        environment: process.env,
      },
      keep,
    );
    return proxyUrl;
  }
  const gateway = await startEmbeddedGateway({
    proxy: { host: "127.0.0.1", port: config.GATEWAY_PORT },
    admin: { host: "127.0.0.1", port: config.GATEWAY_ADMIN_PORT },
    trustedIps: config.TRUSTED_IPS,
    logger: logger.child({ service: "gateway" }),
  });
  stops.push(gateway.close);
  return gateway.proxyUrl;
}

function asRole(databaseUrl: string, role: LoginRole, { rolePasswords }: Secrets): string {
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = rolePasswords[role];
  return url.href;
}

async function chooseSampleReports(client: Client): Promise<StackFacts["sample"]> {
  const { rows } = await client.query<StackFacts["sample"]>(
    `select (select report_id from disclosed.general limit 1) as public_report_id,
            (select report_id from suppressed.general limit 1) as suppressed_report_id`,
  );
  return rows[0] ?? { public_report_id: null, suppressed_report_id: null };
}
