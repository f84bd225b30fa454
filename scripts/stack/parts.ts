import { randomUUID } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Logger } from "pino";
import { signGatewayToken } from "../../gateway/sign-gateway-token.ts";
import { connect } from "../../service/connect.ts";
import { describeError } from "../../service/describe-error.ts";
import { deployDatabase } from "../deploy/deploy-database.ts";
import { waitForDatabase } from "../deploy/find-database.ts";
import type { LoginRole } from "../deploy/set-role-passwords.ts";
import { startPostgres } from "../servers/postgres.ts";
import type { StackConfig } from "./config.ts";
import { probeKong, startKong } from "./kong.ts";
import { prepareKongDatabase } from "./kong-database.ts";
import { startPostgrest } from "./postgrest.ts";
import type { Secrets } from "./secrets.ts";
import { type ServiceOptions, startService } from "./service.ts";
import { type Supervision, supervise } from "./supervise.ts";

/** What every part of the stack is started with. */
export interface PartContext extends Supervision {
  /** With no port that is still 0. */
  config: StackConfig;
  secrets: Secrets;
  logger: Logger;
  /** The installed Kong; undefined where the embedded gateway runs. */
  kong: string | undefined;
  /** Takes the lines of the programs' logs. */
  logLine: (line: string) => void;
}

const host = "127.0.0.1";
const deliveryMilliseconds = 60_000;

/** Starts PostgreSQL, or uses that of DATABASE_URL. Returns its address, as who deploys. */
export async function startDatabase(context: PartContext): Promise<string> {
  const { config, secrets, logger, report } = context;
  const { DATABASE_URL: given, DATABASE_PORT: port, DATABASE_MEMORY: memory, directory } = config;
  if (given !== undefined) {
    await waitForDatabase(given, 0).catch((cause) => {
      throw new Error(`The database of DATABASE_URL cannot be used: ${describeError(cause)}.`, { cause });
    });
    return given;
  }
  const log = logLines(logger, "postgresql");
  const databaseUrl = await supervise(context, "PostgreSQL", (keep) =>
    startPostgres({ directory, port, superuserPassword: secrets.superuserPassword, keep, memory, log }),
  );
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
  const { config, secrets, logger, report } = context;
  const options = {
    binary: config.POSTGREST_BIN,
    databaseUrl: asRole(databaseUrl, "authenticator", secrets),
    jwtSecret: secrets.jwtSecret,
    port: config.POSTGREST_PORT,
    adminPort: config.POSTGREST_ADMIN_PORT,
    // The host that the description at / names.
    settings: { PGRST_OPENAPI_SERVER_PROXY_URI: `http://${host}:${config.GATEWAY_PORT}` },
    log: logLines(logger, "postgrest"),
  };
  const postgrestUrl = await supervise(context, "PostgREST", (keep) => startPostgrest(options, keep));
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
export async function startGateway(context: PartContext, databaseUrl: string): Promise<GatewayAddress> {
  const { config, secrets, kong } = context;
  const { GATEWAY_PORT: port, GATEWAY_ADMIN_PORT: adminPort, TRUSTED_IPS: trustedIps, directory } = config;
  const gatewayToken = await signGatewayToken(secrets.jwtSecret);
  if (kong !== undefined) {
    const options = {
      program: kong,
      prefix: path.join(directory, "kong"),
      port,
      adminPort,
      trustedIps,
      databaseUrl: await prepareKongDatabase(databaseUrl, secrets.kongDatabasePassword),
      secrets: { gatewayToken, redisPassword: config.redisPassword },
      environment: process.env,
    };
    let migrates = true;
    return await supervise(context, "Kong", (keep) => {
      const started = startKong({ ...options, migrates }, keep);
      migrates = false;
      return started;
    });
  }
  const entities = path.join(directory, "gateway.json");
  await dropForeignEntities(entities, config.POSTGREST_PORT);
  const adminToken = randomUUID();
  const adminUrl = `http://${host}:${adminPort}`;
  const ports = ["--port", String(port), "--admin-port", String(adminPort)];
  const trusted = trustedIps.length === 0 ? [] : ["--trusted-ips", trustedIps.join(",")];
  await superviseService(context, "gateway", {
    name: "The gateway",
    script: "gateway-embedded.ts",
    args: [...ports, ...trusted, "--entities", entities],
    env: { GATEWAY_TOKEN: gatewayToken, GATEWAY_ADMIN_TOKEN: adminToken },
    url: `${adminUrl}/status`,
  });
  return { proxyUrl: `http://${host}:${port}`, adminUrl, adminToken };
}

/**
 * Removes what the gateway kept in an earlier run, if PostgREST was on another port then: whoever listens there now must not
 * get the gateway's token. Otherwise the gateway serves at once after the stack was killed.
 */
async function dropForeignEntities(file: string, postgrestPort: number): Promise<void> {
  const { services = [] }: { services?: { port: number }[] } = await readFile(file, "utf8")
    .then(JSON.parse)
    .catch(() => ({}));
  if (services.some(({ port }) => port !== postgrestPort)) await rm(file, { force: true });
}

/** Starts the sync, and waits until the gateway serves what it was given. */
export async function startGatewaySync(
  context: PartContext,
  urls: { databaseUrl: string; postgrestUrl: string; gateway: GatewayAddress },
): Promise<void> {
  const { config, secrets, kong, report } = context;
  const { gateway } = urls;
  const url = `http://${host}:${config.GATEWAY_SYNC_PORT}`;
  await superviseService(context, "gateway-sync", {
    name: "The gateway's sync",
    script: "gateway-sync.ts",
    env: {
      GATEWAY_SYNC_DATABASE_URL: asRole(urls.databaseUrl, "gateway_sync", secrets),
      GATEWAY_ADMIN_URLS: gateway.adminUrl,
      GATEWAY_ADMIN_TOKEN: gateway.adminToken,
      POSTGREST_URL: urls.postgrestUrl,
      REDIS_HOST: config.redis?.host,
      REDIS_PORT: config.redis?.port,
      REDIS_PASSWORD: config.redisPassword,
      GATEWAY_SYNC_PORT: config.GATEWAY_SYNC_PORT,
    },
    url: `${url}/healthz`,
  });
  await waitForDelivery(`${url}/readyz`);
  if (kong !== undefined) {
    await probeKong(gateway.proxyUrl);
    report("Kong is ready.");
  }
}

/** Starts the storage of the reports' PDFs. Returns its address. */
export async function startStorage(context: PartContext, reports: string): Promise<string> {
  const { config, secrets } = context;
  const url = `http://${host}:${config.STORAGE_PORT}`;
  await superviseService(context, "local-storage", {
    name: "The local storage",
    script: "local-storage.ts",
    env: {
      STORAGE_PORT: config.STORAGE_PORT,
      STORAGE_DIRECTORY: reports,
      STORAGE_SIGNING_SECRET: secrets.storageSigningSecret,
    },
    url,
  });
  return url;
}

/** Starts the report service with its pages and the bulk files. Returns its address. */
export async function startApp(
  context: PartContext,
  urls: { databaseUrl: string; storageUrl: string; gatewayUrl: string },
  publicData: string,
): Promise<string> {
  const { config, secrets } = context;
  const url = `http://${host}:${config.APP_PORT}`;
  await superviseService(context, "report-service", {
    name: "The report service",
    script: "report-service.ts",
    env: {
      APP_PORT: config.APP_PORT,
      APP_METRICS_PORT: config.APP_METRICS_PORT,
      REPORT_SERVICE_DATABASE_URL: asRole(urls.databaseUrl, "report_service", secrets),
      STORAGE_URL: urls.storageUrl,
      STORAGE_SIGNING_SECRET: secrets.storageSigningSecret,
      PUBLIC_DATA: publicData,
      API_URL: urls.gatewayUrl,
      ENVIRONMENT: config.ENVIRONMENT,
      CONTACT: config.CONTACT,
      SECURITY_CONTACT: config.SECURITY_CONTACT,
      TRUSTED_IPS: config.TRUSTED_IPS.join(),
    },
    url: `${url}/healthz`,
  });
  return url;
}

/** @param service what the log calls it */
async function superviseService(
  context: PartContext,
  service: string,
  options: Omit<ServiceOptions, "directory" | "log">,
): Promise<void> {
  const { config, logger, logLine } = context;
  const logPlain = logLines(logger, service);
  // Its own lines are JSON; what Node says before its end is not.
  const log = (line: string) =>
    line.startsWith("{") ? logLine(`{"service":"${service}",${line.slice(1)}`) : logPlain(line);
  await supervise(context, options.name, (keep) =>
    startService({ ...options, directory: config.directory, log }, keep),
  );
}

async function waitForDelivery(url: string): Promise<void> {
  for (const giveUpAt = Date.now() + deliveryMilliseconds; ; await sleep(50)) {
    const response = await fetch(url).catch(() => undefined);
    const state = await response?.text().catch(() => undefined);
    if (response?.ok) return;
    if (Date.now() > giveUpAt) {
      throw new Error(
        `The gateway has not got its configuration in a minute: ${state?.trim() ?? "the sync does not answer"}. See stack.log.`,
      );
    }
  }
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
