import path from "node:path";
import { Command, Option } from "commander";
import { dotenv } from "zx";
import { describeError } from "../shared/describe-error.ts";
import { readRateLimits } from "../shared/read-rate-limits.ts";
import { readStackConfig } from "./stack/config.ts";
import { describeFacts } from "./stack/print-facts.ts";

const command = new Command("npm start --")
  .description("Runs the whole service on this machine, without Docker. Ctrl-C stops it; its data is kept.")
  .option("--fresh", "start over: remove data, keys and secrets of earlier runs first")
  .option("--data <directory>", "publish the CSV files of this directory instead of the generated sample")
  .addOption(
    new Option("--gateway <kind>", "kong runs the Kong 3.9 that is installed on this machine").choices([
      "embedded",
      "kong",
    ]),
  )
  .addHelpText(
    "after",
    `
Environment (or .env), defaults in parentheses:
  GATEWAY_PORT           port of the API (8000)
  APP_PORT               port of the report service (8001)
  DATABASE_PORT          port of PostgreSQL (8003)
  POSTGREST_PORT         port of PostgREST (8004)
  POSTGREST_ADMIN_PORT   port of PostgREST's health checks (8005)
  GATEWAY_METRICS_PORT   port of the gateway's /status and /metrics (any free one)
  APP_METRICS_PORT       port of the report service's /metrics (any free one)
                         Set a port to 0 to use any free port.
  GATEWAY                embedded or kong, the same as --gateway (embedded)
  GATEWAY_CONFIG         file with the gateway's routes and rate limits (gateway/kong.yml)
  KONG_BIN               the Kong program, if it is not on the PATH
  REDIS_HOST, REDIS_PORT (6379), REDIS_PASSWORD
                         where Kong counts requests; if not set, each Kong counts its own
  DATABASE_URL           an empty database (PostgreSQL 17 or newer) to use instead of the embedded one, made as
                         docs/operations.md says (Rights); the user must be a superuser, or own it and have createrole
  DATABASE_MEMORY        megabytes that PostgreSQL may use (1024)
  POSTGREST_BIN          the PostgREST program (12.0.2 or newer), if it is neither on the PATH nor installed by npm
  TRUSTED_IPS            trusted load balancers, which set X-Forwarded-For, as IP addresses or CIDRs
  ENVIRONMENT            production, staging, development or preview: the pages show its refresh schedule (none)
  CONTACT, SECURITY_CONTACT
                         mailto: or https: addresses that the app's pages show
  STACK_DIRECTORY        where data, secrets and stack.json are kept (.stack)

If one part stops, everything stops. Docker Compose and Kubernetes restart parts instead.
Exit status: 0 stopped by Ctrl-C, 1 a part could not be started or has stopped.`,
  )
  .parse();
const options = command.opts<{ fresh?: boolean; data?: string; gateway?: string }>();

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const interrupted = new Promise<undefined>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => resolve(undefined));
});

try {
  process.env = { ...dotenv.loadSafe(".env"), ...process.env };
  const config = readStackConfig({
    ...process.env,
    ...(options.gateway === undefined ? {} : { GATEWAY: options.gateway }),
  });
  // Loaded last because it is large: printing help or refusing arguments does not need it.
  const { startStack } = await import("./stack/start-stack.ts");
  const stack = startStack({
    config,
    isFresh: options.fresh,
    dataDirectory: options.data === undefined ? undefined : path.resolve(options.data),
    report: (line) => process.stdout.write(`${line}\n`),
  });
  const outcome = await Promise.race([
    stack.ready.then(
      (facts) => {
        process.stdout.write(
          `\n${describeFacts(facts, readRateLimits(config.GATEWAY_CONFIG))}\n\nCtrl-C stops it.\n`,
        );
        return Promise.race([stack.failed, interrupted]);
      },
      (error: Error) => error.message,
    ),
    stack.failed,
    interrupted,
  ]);
  await stack.stop();
  if (outcome !== undefined) fail(outcome);
  process.exit(0);
} catch (error) {
  fail(describeError(error));
}
