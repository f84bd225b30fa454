import { readFile } from "node:fs/promises";
import { Command, InvalidArgumentError } from "commander";
import { readTrustedIps } from "../gateway/embedded/client-address.ts";
import { startEmbeddedGateway } from "../gateway/embedded/start-embedded-gateway.ts";
import { gatewayConfigFile } from "../shared/read-rate-limits.ts";
import { closeOnSignal } from "../shared/run-until-signal.ts";

interface Options {
  config: string;
  host: string;
  port: number;
  metricsPort: number;
  trustedIps?: string[];
}

const program = new Command("npm run gateway:embedded --")
  .description("Runs the gateway that gateway/kong.yml describes, without Kong.")
  .requiredOption("--port <number>", "port of the proxy; 0 takes any free one (required)", readPort)
  .option("--host <address>", "address of the proxy", "127.0.0.1")
  .requiredOption("--metrics-port <number>", "port of /metrics and /status on 127.0.0.1 (required)", readPort)
  .option("--config <file>", "Kong's configuration (GATEWAY_CONFIG)", gatewayConfigFile())
  .option(
    "--trusted-ips <list>",
    "proxies whose X-Forwarded-* headers are trusted: IP addresses or CIDRs, separated by commas",
    readAddresses,
  )
  .addHelpText(
    "after",
    "\nEnvironment:\n" +
      "  POSTGREST_URL  where PostgREST is, such as http://127.0.0.1:3000\n" +
      "  GATEWAY_TOKEN  the token that identifies the gateway to PostgREST\n" +
      "  USAGE_URL      where the report service records which keys are used; not recorded if not set\n",
  );

program.action(async ({ config, ...options }: Options) => {
  const text = await readFile(config, "utf8");
  const gateway = await startEmbeddedGateway({ ...options, config: text, env: process.env }).catch(
    (error: Error) => {
      const { code } = error as NodeJS.ErrnoException;
      throw code ? error : new Error(`${config}: ${error.message}`, { cause: error });
    },
  );
  console.log(`Gateway ready on ${gateway.url}, metrics on ${gateway.metricsUrl}/metrics`);
  closeOnSignal(gateway);
});

try {
  await program.parseAsync();
} catch (error) {
  console.error(`gateway:embedded: ${describeError(error)}`);
  process.exitCode = 1;
}

function describeError(error: unknown): string {
  const { code, path: file, port, message } = error as NodeJS.ErrnoException & { port?: number };
  if (code === "EADDRINUSE")
    return `Port ${port} is in use. Stop the program that listens there, or choose another port.`;
  return code === "ENOENT" ? `--config ${file}: no such file` : message;
}

function readAddresses(list: string): string[] {
  const entries = list.split(",").map((entry) => entry.trim());
  readTrustedIps(entries);
  return entries;
}

function readPort(value: string): number {
  const port = Number(value);
  if (/^\d+$/.test(value) && port <= 65_535) return port;
  throw new InvalidArgumentError("Enter a port number from 0 to 65535.");
}
