import { defineConfig } from "vitest/config";

// Vitest gives BASE_URL a meaning of its own in the suites, and a path as its value by the time a project reads this file
// again, so the deployment's address goes by another name.
if (process.env.BASE_URL?.startsWith("http")) process.env.API_URL = process.env.BASE_URL;

/** Files that ask the stack of their worker, or the deployment that BASE_URL names. */
const onStack = [
  "test/bench/torture.slow.test.ts",
  "test/db/{catalog,plans}.test.ts",
  "test/gateway/hostile/requests.test.ts",
  "test/http/**/*.test.ts",
  "test/operations/monitoring.test.ts",
  "test/report-service/{entry-points.slow,limits,local-store,redeem,storage}.test.ts",
  "test/site/{query,serve}.test.ts",
  "test/scripts/access/**/*.test.ts",
  "test/scripts/deploy/smoke.test.ts",
  "test/scripts/refresh/public-data.test.ts",
];

/** Those that measure how long requests take, and want no other file to run meanwhile. */
const timed = ["test/scripts/deploy/load.slow.test.ts", "test/scripts/refresh/gateway.test.ts"];

// Two cores have work for three, since tests wait as well.
const maxWorkers = 3;
/** Whether a deployment is given, which is one for all. */
const isGiven = Boolean(process.env.API_URL);

/**
 * `--mode slow` runs the files named `*.slow.test.ts`, each of which takes long and concerns one part, and no others. The
 * default leaves them out.
 */
const excluded = (mode: string) => (mode === "slow" ? ["**/!(*.slow).test.ts"] : ["**/*.slow.test.ts"]);

export default defineConfig(({ mode }) => ({
  test: {
    // A worker runs one file after the other, in one thread, with what it has imported.
    pool: "threads",
    isolate: false,
    // Enough for a busy machine. What must be quick says so in its assertions.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 15_000 } },
    globalSetup: ["test/support/temporary-files.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "alone",
          include: ["test/**/*.test.ts"],
          exclude: [...onStack, ...timed, ...excluded(mode)],
          // Those that make databases of their own do so on the server of their worker.
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
          // Some of them publish data or spend rate limits, so nobody else may use their stack meanwhile.
          globalSetup: ["test/support/start-stack.ts"],
          sequence: { groupOrder: isGiven ? 1 : 0 },
          maxWorkers: isGiven ? 1 : maxWorkers,
        },
      },
      {
        extends: true,
        test: {
          name: "timed",
          include: timed,
          exclude: excluded(mode),
          globalSetup: ["test/support/start-stack.ts"],
          sequence: { groupOrder: 2 },
          maxWorkers: 1,
        },
      },
    ],
  },
}));
