import path from "node:path";
import { keyUsePath } from "../../report-service/record-key-use.ts";
import { waitForDatabase } from "../../shared/find-database.ts";
import type { LoginRole } from "../deploy/role-passwords.ts";
import { preparePostgres } from "../servers/postgres.ts";
import { isAnswering, type Program, startProgram } from "../servers/run-program.ts";
import type { StackConfig } from "./config.ts";
import { prepareKong } from "./kong.ts";
import { preparePostgrest } from "./postgrest.ts";
import type { Secrets } from "./secrets.ts";
import { signGatewayToken } from "./sign-gateway-token.ts";

/** Passed to every function that starts a part of the stack. */
export interface PartContext {
  /** Every port is chosen: none is 0. */
  config: StackConfig;
  addresses: ReturnType<typeof listAddresses>;
  secrets: Secrets;
  report: (line: string) => void;
  /** Receives each line that a part logs. */
  log: (part: string, line: string) => void;
  /** Registers a function that stops a part. */
  onStop: (stop: () => Promise<unknown>) => void;
  /** Reports a failure, which ends the stack. */
  fail: (description: string) => void;
}

const scripts = path.resolve(import.meta.dirname, "..");

/** Lists the base URLs of the parts. */
export function listAddresses(config: StackConfig) {
  const addressOf = (port: number) => `http://127.0.0.1:${port}`;
  return {
    postgrest: addressOf(config.POSTGREST_PORT),
    gateway: addressOf(config.GATEWAY_PORT),
    gatewayMetrics: addressOf(config.GATEWAY_METRICS_PORT),
    app: addressOf(config.APP_PORT),
    keyUse: addressOf(config.APP_METRICS_PORT) + keyUsePath,
  };
}

/** Starts PostgreSQL, or uses the database of DATABASE_URL. Returns its URL, with the deploying role's login. */
export async function startDatabase(context: PartContext): Promise<string> {
  const { config, secrets } = context;
  const { DATABASE_URL: given } = config;
  if (given !== undefined) {
    await waitForDatabase(given, 0);
    return given;
  }
  const { program, url } = await preparePostgres({
    directory: config.STACK_DIRECTORY,
    port: config.DATABASE_PORT,
    superuserPassword: secrets.superuserPassword,
    memory: config.DATABASE_MEMORY,
    report: context.report,
  });
  await startPart(context, "postgresql", program).catch(async (error: Error) => {
    // PostgreSQL's bug 17731: after a crash while a refresh creates unlogged tables, only the second start succeeds.
    if (!/could not create file .*: File exists/.test(error.message)) throw error;
    context.report("PostgreSQL could not recover in its first attempt. Starting it again ...");
    await startPart(context, "postgresql", program);
  });
  return url;
}

/** Starts PostgREST. */
export async function startApi(context: PartContext, databaseUrl: string): Promise<void> {
  const { config, secrets, addresses } = context;
  const program = await preparePostgrest({
    binary: config.POSTGREST_BIN,
    databaseUrl: asRole(databaseUrl, "authenticator", secrets),
    jwtSecret: secrets.jwtSecret,
    port: config.POSTGREST_PORT,
    adminPort: config.POSTGREST_ADMIN_PORT,
    // The URL that the OpenAPI description at / names.
    settings: { PGRST_OPENAPI_SERVER_PROXY_URI: addresses.gateway },
  });
  await startPart(context, "postgrest", program);
}

/** Starts the embedded gateway, or an installed Kong. */
export async function startGateway(context: PartContext): Promise<void> {
  const { config, secrets, addresses } = context;
  const { GATEWAY_PORT: port, GATEWAY_METRICS_PORT: metricsPort } = config;
  const addressAndToken = {
    POSTGREST_URL: addresses.postgrest,
    USAGE_URL: addresses.keyUse,
    GATEWAY_TOKEN: await signGatewayToken(secrets.jwtSecret),
  };
  if (config.GATEWAY === "kong") {
    const program = await prepareKong({
      binary: config.KONG_BIN,
      prefix: path.join(config.STACK_DIRECTORY, "kong"),
      port,
      metricsPort,
      config: config.GATEWAY_CONFIG,
      environment: { ...process.env, ...addressAndToken, KONG_TRUSTED_IPS: config.TRUSTED_IPS },
    });
    return await startPart(context, "kong", program);
  }
  const trusted = config.TRUSTED_IPS === "" ? [] : ["--trusted-ips", config.TRUSTED_IPS];
  await startService(context, "gateway-embedded", `${addresses.gatewayMetrics}/status`, {
    name: "The gateway",
    // V8 counts the bodies that pass as garbage. With its small initial limit, it would search the whole heap after each page.
    nodeOptions: ["--initial-old-space-size=256"],
    args: ["--port", String(port), "--metrics-port", String(metricsPort), ...trusted],
    env: { GATEWAY_CONFIG: config.GATEWAY_CONFIG, ...addressAndToken },
  });
}

/** Starts the report service with its pages. */
export async function startApp(
  context: PartContext,
  databaseUrl: string,
  { reports, publicData }: { reports: string; publicData: string },
): Promise<void> {
  const { config, secrets, addresses } = context;
  await startService(context, "report-service", `${addresses.app}/healthz`, {
    name: "The report service",
    env: {
      APP_PORT: String(config.APP_PORT),
      APP_METRICS_PORT: String(config.APP_METRICS_PORT),
      REPORT_SERVICE_DATABASE_URL: asRole(databaseUrl, "report_service", secrets),
      REPORTS_DIRECTORY: reports,
      PUBLIC_DATA: publicData,
      API_URL: addresses.gateway,
      GATEWAY_CONFIG: config.GATEWAY_CONFIG,
      ENVIRONMENT: config.ENVIRONMENT,
      CONTACT: config.CONTACT,
      SECURITY_CONTACT: config.SECURITY_CONTACT,
      TRUSTED_IPS: config.TRUSTED_IPS,
    },
  });
}

/**
 * Runs one of the project's services in its own process.
 *
 * @param script its file in scripts/, which is also its name in the log (without `-embedded`)
 * @param url returns a 2xx status once the service is ready
 */
async function startService(
  context: PartContext,
  script: string,
  url: string,
  {
    name,
    nodeOptions = [],
    args = [],
    env,
  }: { name: string; nodeOptions?: string[]; args?: string[]; env: NodeJS.ProcessEnv },
): Promise<void> {
  const program = [
    ...nodeOptions,
    "--import",
    import.meta.resolve("tsx"),
    path.join(scripts, `${script}.ts`),
  ];
  const { PATH, HOME, TMPDIR } = process.env;
  await startPart(context, script.replace("-embedded", ""), {
    name,
    command: process.execPath,
    args: [...program, ...args],
    env: { PATH, HOME, TMPDIR, TSX_TSCONFIG_PATH: path.join(scripts, "../tsconfig.json"), ...env },
    // The service reads .env in its working directory; there is none here.
    directory: context.config.STACK_DIRECTORY,
    keepsPrivileges: true,
    isReady: () => isAnswering(url),
  });
}

/**
 * Starts a part of the stack. If it ends later, so does the stack.
 *
 * @param part its name in the log
 * @throws Error with its last lines of output if it does not start
 */
async function startPart(context: PartContext, part: string, program: Program): Promise<void> {
  const child = startProgram(program, (line) => context.log(part, line));
  context.onStop(() => child.stop());
  await child.ready;
  const advice = "Everything was stopped, and the data is kept. To start again, run npm start.";
  void child.ended.then((lastLines) => context.fail(`${lastLines}\n${advice}`));
  context.report(`${program.name} is ready.`);
}

/** The database's URL with a role's login. */
function asRole(
  databaseUrl: string,
  role: LoginRole,
  { rolePasswords }: Pick<Secrets, "rolePasswords">,
): string {
  // The URL would decode a password's %20 to a space.
  const password = encodeURIComponent(rolePasswords[role]);
  return Object.assign(new URL(databaseUrl), { username: role, password }).href;
}
