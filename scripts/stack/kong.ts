import { chown, cp, mkdir, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { dotenv } from "zx";
import { isAnswering, locateProgram, type Program, unprivilegedId } from "../servers/run-program.ts";

interface KongOptions {
  /** Path of the program; searched for on the PATH if absent. */
  binary: string | undefined;
  /** Kong's own directory; emptied first. */
  prefix: string;
  port: number;
  /** Port of /status and /metrics. */
  metricsPort: number;
  /** The path of gateway/kong.yml, or of the file that replaces it. */
  config: string;
  /** Variables for start.sh, and KONG_… variables that override gateway/kong.env. Others are not passed on. */
  environment: NodeJS.ProcessEnv;
}

const gateway = path.resolve(import.meta.dirname, "../../gateway");
const inherited =
  /^((KONG|LUA|RESTY|OPENRESTY|REDIS)_\w+|PATH|HOME|LD_LIBRARY_PATH|POSTGREST_URL|USAGE_URL|GATEWAY_TOKEN)$/;

/** Prepares to run an installed Kong on the loopback interface, with gateway/kong.env and gateway/plugins. */
export async function prepareKong(options: KongOptions): Promise<Program> {
  const { prefix, port, metricsPort, config, environment } = options;
  if (/\s/.test(prefix))
    throw new Error(
      `Kong cannot run in a directory with a space in its path: ${prefix}. Set STACK_DIRECTORY to a path without spaces.`,
    );
  const program = await locateProgram("kong", "KONG_BIN", options.binary);
  if (program === undefined)
    throw new Error(
      "Kong is not installed. Put kong (3.9) on the PATH, or set KONG_BIN to the program. To use the embedded " +
        "gateway, leave out --gateway kong and unset GATEWAY.",
    );
  await makePrefix(prefix);
  return {
    name: "Kong",
    command: "/bin/sh",
    args: [path.join(gateway, "start.sh"), config, await realpath(program), "start", "--prefix", prefix],
    env: {
      ...dotenv.load(path.join(gateway, "kong.env")),
      ...Object.fromEntries(Object.entries(environment).filter(([name]) => inherited.test(name))),
      KONG_BIN: program,
      KONG_PREFIX: prefix,
      KONG_DECLARATIVE_CONFIG: path.join(prefix, "kong.yml"),
      KONG_LUA_PACKAGE_PATH: `${prefix}/gateway/?.lua;;`,
      KONG_NGINX_DAEMON: "off",
      KONG_PROXY_LISTEN: `127.0.0.1:${port} reuseport backlog=16384`,
      KONG_STATUS_LISTEN: `127.0.0.1:${metricsPort}`,
      // Logs to files below the prefix, because nginx cannot open Node's pipes as /dev/stdout.
      KONG_PROXY_ACCESS_LOG: "logs/access.log without_query",
      KONG_PROXY_ERROR_LOG: "logs/error.log",
      KONG_STATUS_ERROR_LOG: "logs/error.log",
    },
    isReady: () => isAnswering(`http://127.0.0.1:${metricsPort}/status/ready`),
  };
}

/**
 * Creates Kong's directory with a copy of the Lua files, because Kong's user may not be able to read the checkout. Kong
 * also writes its settings there, with the gateway's token, so only that user may read it.
 */
async function makePrefix(prefix: string): Promise<void> {
  await rm(prefix, { recursive: true, force: true });
  await mkdir(prefix, { recursive: true, mode: 0o700 });
  await cp(path.join(gateway, "plugins"), path.join(prefix, "gateway/kong/plugins"), { recursive: true });
  if (process.getuid?.() === 0) await chown(prefix, unprivilegedId, unprivilegedId);
}
