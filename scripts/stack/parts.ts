import path from "node:path";
import { fileURLToPath } from "node:url";
import { describeError } from "../../service/describe-error.ts";
import { waitForDatabase } from "../deploy/find-database.ts";
import type { LoginRole } from "../deploy/role-passwords.ts";
import { startChildProcess, waitUntilAnswering } from "../servers/child-process.ts";
import { startPostgres } from "../servers/postgres.ts";
import type { StackConfig } from "./config.ts";
import { startKong } from "./kong.ts";
import { startPostgrest } from "./postgrest.ts";
import type { Secrets } from "./secrets.ts";
import { signGatewayToken } from "./sign-gateway-token.ts";
import { type Supervision, supervise } from "./supervise.ts";

/** What every part of the stack is started with. */
export interface PartContext extends Supervision {
  /** Has no port that is still 0. */
  config: StackConfig;
  secrets: Secrets;
  /** The installed Kong; undefined if the embedded gateway runs. */
  kong: string | undefined;
  /** Receives a line that a program has logged. */
  log: (service: string, line: string) => void;
}

const host = "127.0.0.1";
const scripts = path.resolve(import.meta.dirname, "..");

/** The addresses of the parts. */
export function listAddresses({ config }: Pick<PartContext, "config">) {
  return {
    postgrest: `http://${host}:${config.POSTGREST_PORT}`,
    gateway: `http://${host}:${config.GATEWAY_PORT}`,
    storage: `http://${host}:${config.STORAGE_PORT}`,
    app: `http://${host}:${config.APP_PORT}`,
  };
}

/** Starts PostgreSQL, or uses the database of DATABASE_URL. Returns its address, as the deploying role. */
export async function startDatabase(context: PartContext): Promise<string> {
  const { config, secrets, log, report } = context;
  const { DATABASE_URL: given, DATABASE_PORT: port, DATABASE_MEMORY: memory, directory } = config;
  if (given !== undefined) {
    await waitForDatabase(given, 0).catch((cause) => {
      throw new Error(`The database of DATABASE_URL cannot be used: ${describeError(cause)}.`, { cause });
    });
    return given;
  }
  const { superuserPassword } = secrets;
  const databaseUrl = await supervise(context, "PostgreSQL", (keep) =>
    startPostgres({
      directory,
      port,
      superuserPassword,
      keep,
      memory,
      log: (line) => log("postgresql", line),
    }),
  );
  report("PostgreSQL is ready.");
  return databaseUrl;
}

/** Starts PostgREST. */
export async function startApi(context: PartContext, databaseUrl: string): Promise<void> {
  const { config, secrets, log, report } = context;
  const options = {
    binary: config.POSTGREST_BIN,
    databaseUrl: asRole(databaseUrl, "authenticator", secrets),
    jwtSecret: secrets.jwtSecret,
    port: config.POSTGREST_PORT,
    adminPort: config.POSTGREST_ADMIN_PORT,
    // The host that the description at / names.
    settings: { PGRST_OPENAPI_SERVER_PROXY_URI: listAddresses(context).gateway },
    log: (line: string) => log("postgrest", line),
  };
  await supervise(context, "PostgREST", (keep) => startPostgrest(options, keep));
  report("PostgREST is ready.");
}

/** Starts the embedded gateway, or an installed Kong. */
export async function startGateway(context: PartContext): Promise<void> {
  const { config, secrets, kong, report } = context;
  const { GATEWAY_PORT: port, GATEWAY_METRICS_PORT: metricsPort, TRUSTED_IPS: trustedIps } = config;
  const postgrestUrl = listAddresses(context).postgrest;
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
      trustedIps,
      environment: process.env,
    };
    await supervise(context, "Kong", (keep) => startKong(options, keep));
    return report("Kong is ready.");
  }
  const trusted = trustedIps === "" ? [] : ["--trusted-ips", trustedIps];
  await startService(context, {
    name: "The gateway",
    script: "gateway-embedded",
    args: ["--port", String(port), "--metrics-port", String(metricsPort), ...trusted],
    env: { GATEWAY_CONFIG: config.gatewayConfig, POSTGREST_URL: postgrestUrl, GATEWAY_TOKEN: gatewayToken },
    url: `http://${host}:${metricsPort}/status`,
  });
}

/** Starts the storage of the reports' PDFs. */
export async function startStorage(context: PartContext, reports: string): Promise<void> {
  const { config, secrets } = context;
  await startService(context, {
    name: "The local storage",
    script: "local-storage",
    env: {
      STORAGE_PORT: config.STORAGE_PORT,
      STORAGE_DIRECTORY: reports,
      STORAGE_SIGNING_SECRET: secrets.storageSigningSecret,
    },
    url: listAddresses(context).storage,
  });
}

/** Starts the report service with its pages and the bulk files. */
export async function startApp(context: PartContext, databaseUrl: string, publicData: string): Promise<void> {
  const { config, secrets } = context;
  const { storage, gateway, app } = listAddresses(context);
  await startService(context, {
    name: "The report service",
    script: "report-service",
    env: {
      APP_PORT: config.APP_PORT,
      APP_METRICS_PORT: config.APP_METRICS_PORT,
      REPORT_SERVICE_DATABASE_URL: asRole(databaseUrl, "report_service", secrets),
      STORAGE_URL: storage,
      STORAGE_SIGNING_SECRET: secrets.storageSigningSecret,
      PUBLIC_DATA: publicData,
      API_URL: gateway,
      GATEWAY_CONFIG: config.gatewayConfig,
      ENVIRONMENT: config.ENVIRONMENT,
      CONTACT: config.CONTACT,
      SECURITY_CONTACT: config.SECURITY_CONTACT,
      TRUSTED_IPS: config.TRUSTED_IPS,
    },
    url: `${app}/healthz`,
  });
}

interface Service {
  /** What people know it as. */
  name: string;
  /** One of the project's `scripts`; the log has its name. */
  script: string;
  args?: string[];
  env: Record<string, string | number | undefined>;
  /** Answers once the service serves, with any status. */
  url: string;
}

/** Runs one of the project's services in a process of its own, and waits until it answers. */
async function startService(
  context: PartContext,
  { name, script, args = [], env, url }: Service,
): Promise<void> {
  const { PATH, HOME, TMPDIR } = process.env;
  const all = { PATH, HOME, TMPDIR, TSX_TSCONFIG_PATH: path.join(scripts, "../tsconfig.json"), ...env };
  const set = Object.entries(all).filter(([, value]) => value !== undefined);
  await supervise(context, name, async (keep) => {
    const child = startChildProcess({
      name,
      command: process.execPath,
      args: [...programArguments(script), ...args],
      env: Object.fromEntries(set.map(([key, value]) => [key, String(value)])),
      // Has no .env, which the service would read.
      directory: context.config.directory,
      keepsPrivileges: true,
      stopSignal: "SIGTERM",
      log: (line) => context.log(script.replace("-embedded", ""), line),
    });
    keep(child);
    await waitUntilAnswering(child, url, true);
  });
}

/** What Node is given to run a script: its source, or its compiled form if this program is compiled. */
function programArguments(script: string): string[] {
  const [, self = ""] = process.argv;
  if (path.extname(self) === ".js") return [path.join(path.dirname(self), `${script}.js`)];
  return ["--import", fileURLToPath(import.meta.resolve("tsx")), path.join(scripts, `${script}.ts`)];
}

function asRole(databaseUrl: string, role: LoginRole, { rolePasswords }: Secrets): string {
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = rolePasswords[role];
  return url.href;
}
