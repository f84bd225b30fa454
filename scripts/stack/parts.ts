import path from "node:path";
import type { Client } from "pg";
import type { Logger } from "pino";
import { connect } from "../../service/connect.ts";
import { describeError } from "../../service/describe-error.ts";
import { deployDatabase } from "../deploy/deploy-database.ts";
import { waitForDatabase } from "../deploy/find-database.ts";
import type { LoginRole } from "../deploy/set-role-passwords.ts";
import { startPostgres } from "../servers/postgres.ts";
import type { StackConfig } from "./config.ts";
import { startKong } from "./kong.ts";
import { startPostgrest } from "./postgrest.ts";
import type { Secrets } from "./secrets.ts";
import { type ServiceOptions, startService } from "./service.ts";
import { signGatewayToken } from "./sign-gateway-token.ts";
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

/** Starts the embedded gateway, or a natively installed Kong in its place. Returns its address. */
export async function startGateway(context: PartContext): Promise<string> {
  const { config, secrets, kong, report } = context;
  const { GATEWAY_PORT: port, GATEWAY_METRICS_PORT: metricsPort, TRUSTED_IPS: trustedIps } = config;
  const postgrestUrl = `http://${host}:${config.POSTGREST_PORT}`;
  const gatewayToken = await signGatewayToken(secrets.jwtSecret);
  if (kong !== undefined) {
    const options = {
      program: kong,
      prefix: path.join(config.directory, "kong"),
      port,
      metricsPort,
      config: config.gatewayConfig,
      postgrestUrl,
      gatewayToken,
      redis: config.redis,
      trustedIps,
      environment: process.env,
    };
    const gatewayUrl = await supervise(context, "Kong", (keep) => startKong(options, keep));
    report("Kong is ready.");
    return gatewayUrl;
  }
  const trusted = trustedIps.length === 0 ? [] : ["--trusted-ips", trustedIps.join(",")];
  await superviseService(context, "gateway", {
    name: "The gateway",
    script: "gateway-embedded.ts",
    args: ["--port", String(port), "--metrics-port", String(metricsPort), ...trusted],
    env: { GATEWAY_CONFIG: config.gatewayConfig, POSTGREST_URL: postgrestUrl, GATEWAY_TOKEN: gatewayToken },
    url: `http://${host}:${metricsPort}/status`,
  });
  return `http://${host}:${port}`;
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
      GATEWAY_CONFIG: config.gatewayConfig,
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
