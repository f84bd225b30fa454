import { randomUUID } from "node:crypto";
import path from "node:path";
import type { Client } from "pg";
import type { Logger } from "pino";
import { startEmbeddedGateway } from "../../gateway/embedded/start-embedded-gateway.ts";
import { serveSyncState } from "../../gateway/serve-sync-state.ts";
import { signGatewayToken } from "../../gateway/sign-gateway-token.ts";
import { startSync } from "../../gateway/start-sync.ts";
import { describeSite } from "../../report-service/config.ts";
import { startLocalStorage } from "../../report-service/start-local-storage.ts";
import { startReportService } from "../../report-service/start-report-service.ts";
import { connect } from "../../service/connect.ts";
import { describeError } from "../../service/describe-error.ts";
import { deployDatabase } from "../deploy/deploy-database.ts";
import { waitForDatabase } from "../deploy/find-database.ts";
import type { LoginRole } from "../deploy/set-role-passwords.ts";
import type { ChildProcess } from "../servers/child-process.ts";
import { startPostgres } from "../servers/postgres.ts";
import type { StackConfig } from "./config.ts";
import { probeKong, startKong } from "./kong.ts";
import { prepareKongDatabase } from "./kong-database.ts";
import { startPostgrest } from "./postgrest.ts";
import type { Secrets } from "./secrets.ts";

/** What every part of the stack is started with. */
export interface PartContext {
  /** With no port that is still 0. */
  config: StackConfig;
  secrets: Secrets;
  logger: Logger;
  /** The installed Kong; undefined where the embedded gateway runs. */
  kong: string | undefined;
  report: (line: string) => void;
  /** Takes charge of a program: the stack fails when it ends by itself. */
  keep: (child: ChildProcess) => void;
  /** Is told how a part that was started is stopped. */
  onStop: (stop: () => Promise<unknown>) => void;
}

const host = "127.0.0.1";

/** Starts PostgreSQL, or uses that of DATABASE_URL. Returns its address, as who deploys. */
export async function startDatabase({ config, secrets, logger, report, keep }: PartContext): Promise<string> {
  const { DATABASE_URL: given, DATABASE_PORT: port, DATABASE_MEMORY: memory, directory } = config;
  if (given !== undefined) {
    await waitForDatabase(given, 0).catch((cause) => {
      throw new Error(`The database of DATABASE_URL cannot be used: ${describeError(cause)}.`, { cause });
    });
    return given;
  }
  const log = logLines(logger, "postgresql");
  const databaseUrl = await startPostgres(directory, port, secrets.superuserPassword, keep, memory, log);
  report("PostgreSQL is ready.");
  return databaseUrl;
}

/** Brings the database to the state of db/. Returns a connection to it. */
export async function prepareDatabase(
  { secrets, onStop }: PartContext,
  databaseUrl: string,
): Promise<Client> {
  await deployDatabase(databaseUrl, secrets.rolePasswords);
  const client = await connect(databaseUrl, "stack");
  onStop(() => client.end().catch(() => {}));
  return client;
}

/** Starts PostgREST. Returns its address. */
export async function startApi(context: PartContext, databaseUrl: string): Promise<string> {
  const { config, secrets, logger, report, keep } = context;
  const postgrestUrl = await startPostgrest(
    {
      binary: config.POSTGREST_BIN,
      databaseUrl: asRole(databaseUrl, "authenticator", secrets),
      jwtSecret: secrets.jwtSecret,
      port: config.POSTGREST_PORT,
      adminPort: config.POSTGREST_ADMIN_PORT,
      log: logLines(logger, "postgrest"),
    },
    keep,
  );
  report("PostgREST is ready.");
  return postgrestUrl;
}

/** Where the gateway is, and how the sync reaches it. */
export interface GatewayAddress {
  proxyUrl: string;
  adminUrl: string;
  adminToken?: string;
}

/** Starts the embedded gateway, or a natively installed Kong in its place. Both wait for the sync. */
export async function startGateway(
  { config, secrets, kong, logger, keep, onStop }: PartContext,
  databaseUrl: string,
): Promise<GatewayAddress> {
  const gatewayToken = await signGatewayToken(secrets.jwtSecret);
  if (kong !== undefined) {
    return await startKong(
      {
        program: kong,
        prefix: path.join(config.directory, "kong"),
        port: config.GATEWAY_PORT,
        adminPort: config.GATEWAY_ADMIN_PORT,
        trustedIps: config.TRUSTED_IPS,
        databaseUrl: await prepareKongDatabase(databaseUrl, secrets.kongDatabasePassword),
        secrets: { gatewayToken, redisPassword: config.redisPassword },
        environment: process.env,
      },
      keep,
    );
  }
  const adminToken = randomUUID();
  const gateway = await startEmbeddedGateway({
    proxy: { host, port: config.GATEWAY_PORT },
    admin: { host, port: config.GATEWAY_ADMIN_PORT, token: adminToken },
    gatewayToken,
    trustedIps: config.TRUSTED_IPS,
    logger: logger.child({ service: "gateway" }),
  });
  onStop(gateway.close);
  return {
    proxyUrl: gateway.proxyUrl,
    adminUrl: `http://${host}:${config.GATEWAY_ADMIN_PORT}`,
    adminToken,
  };
}

/** Starts the sync, and waits until the gateway serves what it was given. */
export async function startGatewaySync(
  { config, secrets, kong, logger, report, onStop }: PartContext,
  {
    databaseUrl,
    postgrestUrl,
    gateway,
  }: { databaseUrl: string; postgrestUrl: string; gateway: GatewayAddress },
): Promise<void> {
  const sync = await startSync({
    database: { connectionString: asRole(databaseUrl, "gateway_sync", secrets) },
    adminUrls: [gateway.adminUrl],
    adminToken: gateway.adminToken,
    postgrestUrl,
    redis: config.redis,
    logger: logger.child({ service: "gateway-sync" }),
  });
  onStop(sync.close);
  await sync.firstDelivery;
  if (kong !== undefined) {
    await probeKong(gateway.proxyUrl);
    report("Kong is ready.");
  }
  if (config.GATEWAY_SYNC_PORT !== undefined) {
    const state = await serveSyncState(sync, { host, port: config.GATEWAY_SYNC_PORT });
    onStop(state.close);
  }
}

/** Starts the storage of the reports' PDFs. Returns its address. */
export async function startStorage(context: PartContext, reports: string): Promise<string> {
  const { config, secrets, logger, onStop } = context;
  const storage = await startLocalStorage({
    host,
    port: config.STORAGE_PORT,
    directory: reports,
    secret: secrets.storageSigningSecret,
    logger: logger.child({ service: "local-storage" }),
  });
  onStop(storage.close);
  return storage.url;
}

/** Starts the report service with its pages and the bulk files. Returns its address. */
export async function startApp(
  { config, secrets, logger, onStop }: PartContext,
  urls: { databaseUrl: string; storageUrl: string; gatewayUrl: string },
  publicData: string,
): Promise<string> {
  const { APP_METRICS_PORT: metricsPort } = config;
  const app = await startReportService({
    host,
    port: config.APP_PORT,
    metrics: metricsPort === undefined ? undefined : { host, port: metricsPort },
    database: { connectionString: asRole(urls.databaseUrl, "report_service", secrets) },
    storage: { kind: "local", url: urls.storageUrl, secret: secrets.storageSigningSecret },
    publicData: { location: publicData },
    site: describeSite({ ...config, API_URL: urls.gatewayUrl }),
    logger: logger.child({ service: "report-service" }),
  });
  onStop(app.close);
  return app.url;
}

function logLines(logger: Logger, service: string): (line: string) => void {
  const child = logger.child({ service });
  return (line) => child.info(line);
}

function asRole(databaseUrl: string, role: LoginRole, { rolePasswords }: Secrets): string {
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = rolePasswords[role];
  return url.href;
}
