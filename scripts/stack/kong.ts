import { chown, cp, mkdir, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { which } from "zx";
import {
  type ChildProcess,
  readEnvironmentFile,
  startChildProcess,
  unprivilegedId,
  waitUntilAnswering,
} from "../servers/child-process.ts";

export interface KongOptions {
  /** Path of the program: see locateKong. */
  program: string;
  /** Of Kong alone; emptied at each start. */
  prefix: string;
  port: number;
  /** Port of /status and /metrics. */
  metricsPort: number;
  /** The path of gateway/kong.yml, or of a file in its place. */
  config: string;
  postgrestUrl: string;
  gatewayToken: string;
  /** Hops whose X-Forwarded-For is believed. */
  trustedIps: string;
  /** Its KONG_… variables override gateway/kong.env; REDIS_… variables say where Kong counts. */
  environment: NodeJS.ProcessEnv;
}

const gateway = path.resolve(import.meta.dirname, "../../gateway");
/**
 * `kong start` is a chain of programs, of which a signal would reach the first only. So a shell passes it on to all
 * of them: they share its process group.
 */
const runInForeground = `trap 'trap "" TERM; kill -TERM 0; wait' TERM; /bin/sh "$1" "$2" "$3" start & wait $!`;

/**
 * Starts a natively installed Kong on the loopback interface, with gateway/kong.env and gateway/plugins, and waits until it
 * serves.
 *
 * @param keep takes charge of its process at once
 * @returns its address
 * @throws Error when it ends, with its last lines of output
 */
export async function startKong(options: KongOptions, keep: (child: ChildProcess) => void): Promise<string> {
  const { program, prefix, port, metricsPort, config } = options;
  await makePrefix(prefix);
  const child = startChildProcess({
    name: "Kong",
    command: "/bin/sh",
    // The last two are for startChildProcess, which sees to it that they can be reached.
    args: [
      "-c",
      runInForeground,
      "sh",
      path.join(gateway, "start.sh"),
      config,
      program,
      await realpath(program),
      prefix,
    ],
    env: await describeEnvironment(options),
    stopSignal: "SIGTERM",
    hint: `Its log is ${path.join(prefix, "logs/error.log")}.`,
  });
  keep(child);
  await waitUntilAnswering(child, `http://127.0.0.1:${metricsPort}/status/ready`);
  return `http://127.0.0.1:${port}`;
}

/** Kong's complete environment. */
async function describeEnvironment(options: KongOptions): Promise<Record<string, string>> {
  const { prefix, environment } = options;
  const inherited = Object.entries(environment).filter(
    ([name]) =>
      name !== "KONG_BIN" &&
      (/^(KONG|LUA|RESTY|OPENRESTY|REDIS)_/.test(name) || ["PATH", "HOME", "LD_LIBRARY_PATH"].includes(name)),
  );
  return {
    ...(await readEnvironmentFile(path.join(gateway, "kong.env"))),
    ...Object.fromEntries(inherited),
    POSTGREST_URL: options.postgrestUrl,
    GATEWAY_TOKEN: options.gatewayToken,
    KONG_BIN: options.program,
    KONG_PREFIX: prefix,
    KONG_DECLARATIVE_CONFIG: path.join(prefix, "kong.yml"),
    KONG_LUA_PACKAGE_PATH: `${prefix}/gateway/?.lua;;`,
    KONG_NGINX_DAEMON: "off",
    KONG_PROXY_LISTEN: `127.0.0.1:${options.port}`,
    KONG_STATUS_LISTEN: `127.0.0.1:${options.metricsPort}`,
    // Files below the prefix: Node's pipes cannot be opened as /dev/stdout.
    KONG_PROXY_ACCESS_LOG: "logs/access.log without_query",
    KONG_PROXY_ERROR_LOG: "logs/error.log",
    KONG_STATUS_ERROR_LOG: "logs/error.log",
    KONG_TRUSTED_IPS: options.trustedIps,
  };
}

/**
 * Finds the program: the one given, or else kong on the PATH.
 *
 * @throws Error that says what to install or set
 */
export async function locateKong(binary: string | undefined): Promise<string> {
  const found = await which(binary ?? "kong", { nothrow: true });
  if (found !== null) return path.resolve(found);
  throw new Error(
    binary === undefined
      ? "Kong is not here. Put kong (3.9) on the PATH or set KONG_BIN to the program; or leave out --gateway kong, " +
          "and unset GATEWAY, for the embedded gateway."
      : `KONG_BIN names ${binary}, which is not a program that can be run.`,
  );
}

/**
 * Creates a directory that holds only the Lua files, because Kong's user may not be able to read them in the checkout. Kong
 * writes its settings with the gateway's token there, so only that user may read it.
 */
async function makePrefix(prefix: string): Promise<void> {
  await rm(prefix, { recursive: true, force: true });
  await mkdir(prefix, { recursive: true, mode: 0o700 });
  await cp(path.join(gateway, "plugins"), path.join(prefix, "gateway/kong/plugins"), { recursive: true });
  if (process.getuid?.() === 0) await chown(prefix, unprivilegedId, unprivilegedId);
}
