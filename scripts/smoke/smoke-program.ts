import path from "node:path";
import { Command } from "commander";
import type { ProcessContext } from "../../shared/process-context.ts";
import { readContracts } from "../deploy/contract.ts";
import type { Check, Deployment } from "./ask.ts";
import { lacksDataSet, listBasicChecks, listDataChecks } from "./checks.ts";

interface Result {
  check: string;
  ok: boolean;
  /** False if the deployment has no data for this check. */
  tried: boolean;
  milliseconds: number;
  found: string;
}

/** Runs `npm run smoke` to its end. */
export async function runSmoke(context: ProcessContext): Promise<void> {
  const { json, ...deployment } = readOptions(context);
  const contracts = await readContracts(path.resolve(import.meta.dirname, "../../db"));
  const isWithoutData = await lacksDataSet(deployment).catch(() => false);
  const results = await runChecks([
    ...listBasicChecks(deployment, contracts),
    ...(isWithoutData ? [] : listDataChecks(deployment, contracts)),
  ]);
  context.stdout.write(json ? `${JSON.stringify(results, null, 2)}\n` : describeResults(results));
  if (isWithoutData) context.stderr.write(withoutData);
  const codeIfCorrect = isWithoutData ? 3 : 0;
  context.exitCode = results.every(({ ok }) => ok) ? codeIfCorrect : 1;
}

const withoutData = `No data set has been published yet (503 no_data_set), so only these checks were run. To publish one, run
npm run refresh -- --from <the source files>. Then run npm run smoke again.
`;

function readOptions({ argv, env }: ProcessContext) {
  return new Command("npm run smoke --")
    .description(
      "Checks a deployment from outside: what every client relies on and, given a Tribal key, the download of a suppressed report's PDF by one-time token. Sends about 40 requests in a few seconds.",
    )
    .requiredOption("--base-url <url>", "the API, such as https://api.example.gov (required)")
    .option("--app-url <url>", "the report service")
    .requiredOption(
      "--key <key>",
      "an API key without Tribal access (required, or SMOKE_KEY), with a higher rate limit than DEMO_KEY",
      env.SMOKE_KEY || undefined,
    )
    .option(
      "--tribal-key <key>",
      "an API key with Tribal access (SMOKE_TRIBAL_KEY)",
      env.SMOKE_TRIBAL_KEY || undefined,
    )
    .option("--json", "print JSON")
    .allowExcessArguments(false)
    .addHelpText(
      "after",
      `
Environment:
  SMOKE_KEY, SMOKE_TRIBAL_KEY   the keys, instead of --key and --tribal-key

Exit status: 0 all checks passed, 1 a check failed, 3 the checks that need no data passed, but no data set is published.`,
    )
    .parse(argv)
    .opts<Deployment & { json?: true }>();
}

/** Runs one check at a time, so that the measured times are those of the checks. */
async function runChecks(checks: Check[]): Promise<Result[]> {
  const done: Result[] = [];
  for (const [check, run] of checks) {
    const start = performance.now();
    const found = await run().catch(describeFailure);
    const milliseconds = Math.round(performance.now() - start);
    const tried = typeof found !== "object";
    done.push(
      tried
        ? { check, ok: found === undefined, tried, milliseconds, found: found?.trim() ?? "" }
        : { check, ok: true, tried, milliseconds, found: found.notTried },
    );
  }
  return done;
}

function describeFailure(error: Error): string {
  const { cause } = error;
  return `${error.message} ${cause instanceof Error ? cause.message : ""}`;
}

function describeResults(all: Result[]): string {
  const width = Math.max(...all.map(({ check }) => check.length));
  const lines = all.map(({ check, ok, tried, milliseconds, found }) =>
    `${ok ? (tried ? "ok  " : "--  ") : "FAIL"} ${check.padEnd(width)} ${String(milliseconds).padStart(6)} ms  ${found}`.trimEnd(),
  );
  const passed = all.filter(({ ok, tried }) => ok && tried).length;
  const skipped = all.filter(({ tried }) => !tried).length;
  return `${lines.join("\n")}\n${passed} of ${all.length} checks passed${skipped > 0 ? `, ${skipped} not tried` : ""}.\n`;
}
