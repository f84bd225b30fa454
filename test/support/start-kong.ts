import { chmod, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";
import { startProgram } from "../../scripts/servers/run-program.ts";
import { prepareKong } from "../../scripts/stack/kong.ts";

/** The path of real Kong's program (KONG_BIN, or GATEWAY=kong); undefined for the embedded gateway. */
export const kongProgram = process.env.KONG_BIN || (process.env.GATEWAY === "kong" ? "kong" : undefined);

/** Raises the limit for each client network (gateway/kong.env) beyond what any client reaches. */
export const unlimitedAddresses = {
  KONG_NGINX_HTTP_LIMIT_REQ_ZONE: "$http_x_client_network zone=addresses:10m rate=1000000r/s",
};

interface KongFacts {
  /** An empty directory. */
  directory: string;
  /** The text of gateway/kong.yml, or of the file that replaces it. */
  config: string;
  /** URL of the upstream. */
  upstream: string;
  gatewayToken: string;
  /** Variables for start.sh, and KONG_… variables that override gateway/kong.env. */
  environment?: NodeJS.ProcessEnv;
  /** A free port if absent. */
  port?: number | undefined;
}

export type RunningKong = Awaited<ReturnType<typeof startKong>>;

/** Starts real Kong as `npm start -- --gateway kong` does, without a stack. */
export async function startKong(facts: KongFacts) {
  const { directory, config, upstream, gatewayToken, environment, port = await findFreePort() } = facts;
  const metricsPort = await findFreePort();
  const [file, prefix] = [path.join(directory, "kong.yml"), path.join(directory, "kong")];
  // Kong's unprivileged user must be able to enter the directory.
  await chmod(directory, 0o755);
  await writeFile(file, config);
  const kong = await prepareKong({
    binary: kongProgram,
    prefix,
    port,
    metricsPort,
    config: file,
    environment: { ...process.env, ...environment, POSTGREST_URL: upstream, GATEWAY_TOKEN: gatewayToken },
  });
  const { pid = 0, ready, ended, stop } = startProgram(kong);
  await ready;
  return {
    url: `http://127.0.0.1:${port}`,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    port,
    pid,
    stop: () => stop(5000),
    /** Lets it finish the responses in progress, like `docker stop`. Resolves when it has ended. */
    quit: async () => {
      process.kill(Number(await readFile(path.join(prefix, "pids/nginx.pid"), "utf8")), "SIGQUIT");
      await ended;
    },
    readLog: () => readFile(path.join(prefix, "logs/error.log"), "utf8"),
  };
}
