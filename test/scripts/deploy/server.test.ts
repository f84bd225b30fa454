import { readFile } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { runAgreements } from "../../../scripts/access/agreements.ts";
import { runKeys } from "../../../scripts/access/keys.ts";
import { runRefreshProgram } from "../../../scripts/refresh/refresh-program.ts";
import { queryOn } from "../../support/query-on.ts";
import { startRelay } from "../../support/relay.ts";
import { type Program, runHere } from "../../support/run-here.ts";
import {
  createDeployedDatabase,
  createScratchDatabase,
  type ScratchDatabase,
  useOtherServer,
} from "../../support/scratch-database.ts";
import { run, runDeploy } from "./support.ts";

// Which servers a deployment accepts. It checks before it changes anything.

const other = useOtherServer();

async function startProxy(database: ScratchDatabase, rewrite: (bytes: Buffer) => Buffer) {
  const url = new URL(database.url);
  const relay = await startRelay(Number(url.port), rewrite);
  url.port = String(relay.port);
  onTestFinished(async () => {
    await relay.refuse();
    await database.drop();
  });
  return { DATABASE_URL: url.href, SCRATCH_URL: other.url };
}

/** Changes the process ID in BackendKeyData, so that it is not the process that answers, as behind a pooler. */
function hideProcess(bytes: Buffer): Buffer {
  const at = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
  if (at >= 0) bytes.writeInt32BE(bytes.readInt32BE(at + 5) ^ 1, at + 5);
  return bytes;
}

it("a server that is too old is refused before any change; the oldest supported version is not", async () => {
  const database = await createScratchDatabase();
  const [server] = await queryOn<{ server_version: string }>(database.url, "show server_version");
  let version = "16";
  const env = await startProxy(database, (bytes) => {
    const at = bytes.indexOf(server?.server_version ?? "");
    if (at >= 0) bytes.write(version, at, "latin1");
    return bytes;
  });
  const output = expect.stringContaining("The oldest supported version is PostgreSQL 17.");
  for (const args of [["--plan"], []]) expect(await run(runDeploy, args, env)).toEqual({ code: 1, output });
  expect(await queryOn(database.url, "select from pg_namespace where nspname = 'deployment'")).toEqual([]);
  version = "17";
  expect(await run(runDeploy, ["--plan"], env)).toMatchObject({ code: 3 });
});

it("a database that sorts text differently gets no first deployment; once deployed, it gets a warning", async () => {
  const database = await createScratchDatabase();
  onTestFinished(database.drop);
  const env = { DATABASE_URL: database.url, SCRATCH_URL: other.url };
  const name = new URL(database.url).pathname.slice(1);
  const recreate = async (locale: string) => {
    const server = Object.assign(new URL(database.url), { pathname: "/postgres" }).href;
    await queryOn(server, `drop database ${name}`);
    await queryOn(server, `create database ${name} template template0 ${locale}`);
  };
  await recreate("locale_provider libc locale 'C.UTF-8'");
  const { code, output } = await run(runDeploy, [], env);
  const [, locale = ""] =
    /\n {2}create database \w+ owner postgres template template0 (.*);\n/.exec(output) ?? [];
  expect([code, output]).toEqual([1, expect.stringContaining("UTF8 and the libc locale C.UTF-8, not")]);
  expect((await run(runDeploy, ["--plan"], env)).output).toContain("Create the database again");
  await queryOn(database.url, "create schema deployment; create table deployment.api_schemas ()");
  expect((await run(runDeploy, [], env)).output).toMatch(
    /^Warning: The database .*sorts? .*\n {2}create database/,
  );
  await recreate(locale);
  expect(await run(runDeploy, ["--plan"], env)).toMatchObject({ code: 3 });
  const operations = await readFile("docs/operations.md", "utf8");
  expect(operations.replaceAll(/\s+/g, " ")).toContain(`template template0 ${locale};`);
});

it("deployments and refreshes refuse a connection pooler; plans, keys and agreements accept one", async () => {
  const database = await createDeployedDatabase();
  const env = await startProxy(database, hideProcess);
  const refusal = expect.stringMatching(/127\.0\.0\.1:\d+ is a connection pooler: .*the address of the/);
  expect(await run(runRefreshProgram, ["--status"], env)).toEqual({ code: 1, output: refusal });
  const { stdout } = await runHere(runDeploy, ["--json"], { env });
  expect(JSON.parse(stdout).error).toEqual({ kind: "refused", message: refusal });
  const accepted: [Program, ...args: string[]][] = [
    [runDeploy, "--plan"],
    [runKeys, "list"],
    [runKeys, "issue", "--tier", "individual", "--owner", "a@example.gov"],
    [runAgreements, "list"],
  ];
  for (const [program, ...args] of accepted) expect(await run(program, args, env)).toMatchObject({ code: 0 });
  // They leave no lock behind.
  expect(await queryOn(database.url, "select from pg_locks where locktype = 'advisory'")).toEqual([]);
});
