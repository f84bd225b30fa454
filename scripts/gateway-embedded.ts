import { readFile } from "node:fs/promises";
import { Command, InvalidArgumentError } from "commander";
import { parseConfigText } from "../gateway/embedded/declarative-config.ts";
import { startEmbeddedGateway } from "../gateway/embedded/start-embedded-gateway.ts";
import { closeOnSignal } from "../service/run-until-signal.ts";

interface Options {
  config?: string;
  entities?: string;
  host: string;
  port: number;
  adminPort?: number;
  trustedIps?: string[];
  gzip: boolean;
}

const program = new Command("gateway:embedded")
  .description("Run a declarative Kong document where Kong is not installed.")
  .option("--config <file>", "declarative document, YAML or JSON, to begin with")
  .requiredOption("--port <number>", "port of the proxy; 0 takes any free one", readPort)
  .option("--host <address>", "address of the proxy", "127.0.0.1")
  .option("--admin-port <number>", "port of the admin API on 127.0.0.1; none without", readPort)
  .option("--entities <file>", "keeps what the admin API is given, as Kong's database does")
  .option(
    "--trusted-ips <list>",
    "hops whose X-Forwarded-* are believed: addresses or CIDRs, by comma",
    splitList,
  )
  .option("--no-gzip", "send JSON and CSV as they are")
  .addHelpText(
    "after",
    "\nEnvironment:\n" +
      "  GATEWAY_TOKEN        what the plugin authorize-gateway sends to PostgREST\n" +
      "  GATEWAY_ADMIN_TOKEN  what whoever uses the admin API must show; needed with --admin-port\n" +
      "\nExample:\n  npm run gateway:embedded -- --config test/gateway/kong-conformance/kong.yml --port 8000",
  );

program.action(async (options: Options) => {
  const gateway = await startEmbeddedGateway({
    proxy: { host: options.host, port: options.port },
    ...(options.adminPort === undefined ? {} : { admin: describeAdmin(options.adminPort) }),
    gatewayToken: process.env.GATEWAY_TOKEN,
    ...(options.config === undefined ? {} : { document: await readConfig(options.config) }),
    entityFile: options.entities,
    trustedIps: options.trustedIps ?? [],
    gzip: options.gzip,
  });
  console.log(`Gateway ready on ${gateway.proxyUrl}`);
  if (gateway.adminUrl) console.log(`Admin API on ${gateway.adminUrl}`);
  closeOnSignal(gateway);
});

try {
  await program.parseAsync();
} catch (error) {
  console.error(`gateway:embedded: ${describeError(error, program.opts<Options>())}`);
  process.exitCode = 1;
}

function describeAdmin(port: number) {
  const { GATEWAY_ADMIN_TOKEN: token } = process.env;
  if (!token) throw new Error("--admin-port: set GATEWAY_ADMIN_TOKEN, which the sync must show");
  return { host: "127.0.0.1", port, token };
}

async function readConfig(file: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new Error(`--config ${file}: ${missing ? "no such file" : (error as Error).message}`, {
      cause: error,
    });
  }
  try {
    return parseConfigText(text);
  } catch (error) {
    throw new Error(`--config ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function describeError(error: unknown, options: Options): string {
  if (!(error instanceof Error)) return String(error);
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === "EADDRINUSE") {
    const option = port === options.adminPort && port !== options.port ? "--admin-port" : "--port";
    return `${option} ${port}: the port is in use; stop what listens there or choose another`;
  }
  return error.message;
}

function readPort(value: string): number {
  const port = Number(value);
  if (/^\d+$/.test(value) && port <= 65_535) return port;
  throw new InvalidArgumentError("expected a port number, 0 to 65535.");
}

function splitList(value: string): string[] {
  return value.split(",").map((entry) => entry.trim());
}
