import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runAgreements } from "../../../scripts/access/agreements.ts";
import { runKeys } from "../../../scripts/access/keys.ts";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { runRefreshProgram } from "../../../scripts/refresh/refresh-program.ts";
import { hideProcess, type RewritingProxy, startRewritingProxy } from "../../support/rewriting-proxy.ts";
import { type Program, runHere } from "../../support/run-here.ts";
import {
  createScratchDatabase,
  type ScratchDatabase,
  useOtherServer,
} from "../../support/scratch-database.ts";
import { queryOn, run } from "./support.ts";

// Which servers a deployment takes, asked before anything is changed.

const other = useOtherServer();
let database: ScratchDatabase;
const closes: (() => Promise<void>)[] = [];
beforeAll(async () => {
  database = await createScratchDatabase();
});
afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});
afterAll(() => database.drop());

const proxy = async (rewrite: (bytes: Buffer) => Buffer): Promise<RewritingProxy> => {
  const started = await startRewritingProxy(database.url, rewrite);
  closes.push(started.close);
  return started;
};
const countSchemas = async () =>
  (
    await queryOn(
      database.url,
      "select from pg_namespace where nspname !~ '^pg_' and nspname not in ('information_schema', 'public')",
    )
  ).length;

/** As the server that is there would name its version if it were an older one. */
async function pretend(version: string): Promise<string> {
  const [server] = await queryOn<{ server_version: string }>(database.url, "show server_version");
  const now = Buffer.from(server?.server_version ?? "");
  const { url } = await proxy((bytes) => {
    const at = bytes.indexOf(now);
    if (at >= 0) bytes.write(version, at, "latin1");
    return bytes;
  });
  return url;
}

describe("a server that is too old", () => {
  it.each([["--plan"], []])("is refused first, with what is needed: %s", async (...args) => {
    const url = await pretend("16");
    const { code, output } = await run(runDeploy, args, { DATABASE_URL: url, SCRATCH_URL: other.url });
    expect([code, output]).toEqual([
      1,
      expect.stringContaining("The oldest supported version is PostgreSQL 17."),
    ]);
    expect(await countSchemas()).toBe(0);
  });

  it("is not one of the oldest version that is served", async () => {
    const url = await pretend("17");
    const { code } = await run(runDeploy, ["--plan"], { DATABASE_URL: url, SCRATCH_URL: other.url });
    expect(code).toBe(3);
  });
});

it("a connection pooler is refused by deployments and refreshes, and taken by plans, keys and agreements", async () => {
  const fresh = await createScratchDatabase();
  closes.push(fresh.drop);
  await deployDatabase(fresh.url);
  const address = await startRewritingProxy(fresh.url, hideProcess);
  closes.unshift(address.close);
  const env = { DATABASE_URL: address.url, SCRATCH_URL: other.url };
  const codeOf = async (program: Program, ...args: string[]) => (await run(program, args, env)).code;
  expect(await run(runRefreshProgram, ["--status"], env)).toMatchObject({
    code: 1,
    output: expect.stringContaining("is a connection pooler"),
  });
  const refused = await runHere(runDeploy, ["--json"], { env });
  expect(JSON.parse(refused.stdout).error).toEqual({
    kind: "refused",
    message: expect.stringMatching(/^127\.0\.0\.1:\d+ is a connection pooler: .*Give the address of the/),
  });
  expect(await codeOf(runDeploy, "--plan")).toBe(0);
  expect(await codeOf(runKeys, "list")).toBe(0);
  expect(await codeOf(runKeys, "issue", "--tier", "individual", "--owner", "a@example.gov")).toBe(0);
  expect(await codeOf(runAgreements, "list")).toBe(0);
  // No lock is left behind.
  expect(await queryOn(fresh.url, "select from pg_locks where locktype = 'advisory'")).toEqual([]);
});
