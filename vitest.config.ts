import { defineConfig } from "vitest/config";

// Vitest uses BASE_URL itself, and sets it to a path before projects read this file again. So the tests get the URL of
// the deployment in API_URL.
if (process.env.BASE_URL?.startsWith("http")) process.env.API_URL = process.env.BASE_URL;

/** Files that use their worker's stack, or the deployment that BASE_URL names. */
const onStack = [
  "test/torture/torture.slow.test.ts",
  "test/db/{catalog,plans}.test.ts",
  "test/gateway/hostile/requests.test.ts",
  "test/http/**/*.test.ts",
  "test/operations/monitoring.test.ts",
  "test/report-service/{entry-points.slow,limits,local-store,redeem,storage}.test.ts",
  "test/site/{own-process,query,serve}.test.ts",
  "test/scripts/access/**/*.test.ts",
  "test/scripts/deploy/{load.slow,smoke}.test.ts",
  "test/scripts/refresh/{gateway,public-data}.test.ts",
];

// Three workers keep two cores busy, because tests spend much of their time waiting.
const maxWorkers = 3;
/** Whether BASE_URL names a deployment, which all workers then share. */
const isGiven = Boolean(process.env.API_URL);

/**
 * `--mode slow` runs only the files named `*.slow.test.ts`, which are slow and each test one part. The default leaves
 * them out.
 */
const excluded = (mode: string) => (mode === "slow" ? ["**/!(*.slow).test.ts"] : ["**/*.slow.test.ts"]);

export default defineConfig(({ mode }) => ({
  test: {
    // A worker runs its files one after another in one thread, and they share imported modules.
    pool: "threads",
    isolate: false,
    // Long enough for a machine that does five other things. No test asserts a time, except a limit of the service.
    testTimeout: 240_000,
    hookTimeout: 400_000,
    expect: { poll: { timeout: 60_000 } },
    globalSetup: ["test/support/temporary-files.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "alone",
          include: ["test/**/*.test.ts"],
          exclude: [...onStack, ...excluded(mode)],
          // Files that need their own databases create them on their worker's server.
          globalSetup: ["test/support/start-servers.ts"],
          maxWorkers,
        },
      },
      {
        extends: true,
        test: {
          name: "stack",
          include: onStack,
          exclude: excluded(mode),
          // Some files publish data or use up rate limits, so only one file at a time may use a stack.
          globalSetup: ["test/support/start-stack.ts"],
          setupFiles: ["test/support/find-stack.ts"],
          sequence: { groupOrder: isGiven ? 1 : 0 },
          maxWorkers: isGiven ? 1 : maxWorkers,
        },
      },
    ],
  },
}));
