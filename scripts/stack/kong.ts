import { chown, cp, mkdir, readFile, realpath, rm } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { which } from "zx";
import {
  type ChildProcess,
  startChildProcess,
  unprivilegedId,
  waitUntilServing,
} from "../servers/child-process.ts";
import type { StackConfig } from "./config.ts";

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
  redis: StackConfig["redis"];
  /** Hops whose X-Forwarded-For is believed. */
  trustedIps: readonly string[];
  /** Its KONG_… variables override gateway/kong.env. */
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
  await waitUntilServing(child, async () => {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/status/ready`).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok === true;
  });
  return `http://127.0.0.1:${port}`;
}

/** Kong's complete environment. */
async function describeEnvironment(options: KongOptions): Promise<Record<string, string>> {
  const { prefix, environment, redis } = options;
  const settings = (await readFile(path.join(gateway, "kong.env"), "utf8"))
    .split("\n")
    .filter((line) => /^\w+=/.test(line))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]);
  const inherited = Object.entries(environment).filter(
    ([name]) =>
      name !== "KONG_BIN" &&
      (/^(KONG|LUA|RESTY|OPENRESTY)_/.test(name) || ["PATH", "HOME", "LD_LIBRARY_PATH"].includes(name)),
  );
  return {
    ...Object.fromEntries([...settings, ...inherited]),
    POSTGREST_URL: options.postgrestUrl,
    GATEWAY_TOKEN: options.gatewayToken,
    ...(redis === undefined ? {} : { REDIS_HOST: redis.host, REDIS_PORT: String(redis.port) }),
    ...(redis?.password === undefined ? {} : { REDIS_PASSWORD: redis.password }),
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
    KONG_TRUSTED_IPS: options.trustedIps.join(","),
  };
}

/**
 * Kong serves uncounted while Redis is away, so a wrong address would go unnoticed.
 *
 * @throws Error that names the address
 */
export async function checkRedis({ host, port }: { host: string; port: number }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port, timeout: 2_000 }, () => resolve(void socket.end()));
    const fail = (reason: string) => {
      socket.destroy();
      reject(
        new Error(
          `Redis cannot be reached on ${host}:${port} (${reason}). Set REDIS_HOST and REDIS_PORT, or unset them.`,
        ),
      );
    };
    socket.once("error", (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    socket.once("timeout", () => fail("no answer"));
  });
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
