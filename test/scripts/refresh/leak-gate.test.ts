import { spawnSync } from "node:child_process";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { connect } from "../../../service/connect.ts";
import { id, makeDirectory, submission, writeCsv } from "./support/source-files.ts";

const project = path.resolve(import.meta.dirname, "../../..");
const password = "of a server that lives for one test only";

// On a server of its own, as the role that refreshes: its rights are what is tried here.
let server: ScratchServer;
let client: Client;
let publisherUrl: string;
let source: Awaited<ReturnType<typeof makeDirectory>>;
let copy: Awaited<ReturnType<typeof makeDirectory>>;
beforeAll(async () => {
  server = await startScratchServer();
  const url = await server.create();
  await deployDatabase(url, { publisher: password });
  client = await connect(url, "test");
  const address = new URL(url);
  address.username = "publisher";
  address.password = encodeURIComponent(password);
  publisherUrl = address.href;
  source = await makeDirectory();
  await writeCsv(source.directory, "general", [submission(1), submission(2, { is_public: "f" })]);
  await writeCsv(source.directory, "findings", [{ report_id: id(2) }]);
  copy = await makeDirectory();
  for (const part of ["db", "scripts", "service", "package.json"])
    await cp(path.join(project, part), path.join(copy.directory, part), { recursive: true });
  await symlink(path.join(project, "node_modules"), path.join(copy.directory, "node_modules"));
}, 60_000);
afterAll(async () => {
  await client?.end();
  await server?.close();
  await source?.remove();
  await copy?.remove();
});

function refresh(directory: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", "tsx", "scripts/refresh.ts", ...args],
    {
      cwd: directory,
      env: { PATH: process.env.PATH, PUBLISHER_DATABASE_URL: publisherUrl },
      encoding: "utf8",
    },
  );
  return { code: status, output: stdout + stderr };
}

async function seeFindings(): Promise<unknown[]> {
  await client.query("begin; set local role api_public");
  const { rows } = await client.query("select report_id from api_v1_1_0.findings");
  await client.query("rollback");
  return rows;
}
const liveId = async () => (await client.query("select id from disclosed.data_set")).rows[0].id;

it("a data set whose views would show suppressed rows is not published", { timeout: 60_000 }, async () => {
  expect(refresh(project, "--from", source.directory)).toMatchObject({ code: 0 });
  const before = await liveId();

  const views = path.join(copy.directory, "db/data_set/views.sql");
  const text = await readFile(views, "utf8");
  const invoker = "create or replace view dissemination.%I with (security_invoker = true) as";
  expect(text).toContain(invoker);
  await writeFile(views, text.replace(invoker, "create or replace view dissemination.%I as"));
  const { code, output } = refresh(copy.directory, "--from", source.directory, "--force");
  expect(output).toContain(
    "api_public and api_owner may read dissemination.findings, which does not read with its caller's rights (security_invoker).",
  );
  expect(code).toBe(1);
  expect(await seeFindings()).toEqual([]);
  expect(await liveId()).toBe(before);
});

it("nor is one rolled back to whose tables would show them; a refresh mends it", {
  timeout: 60_000,
}, async () => {
  expect(refresh(project, "--from", source.directory, "--force")).toMatchObject({ code: 0 });
  const before = await liveId();
  await client.query("alter table suppressed_previous.findings disable row level security");
  const { code, output } = refresh(project, "--rollback");
  expect(output).toContain("suppressed.findings has no row-level security");
  expect(code).toBe(1);
  expect(await liveId()).toBe(before);

  await client.query("alter table suppressed.findings disable row level security");
  expect(await seeFindings()).toEqual([{ report_id: id(2) }]);
  expect(refresh(project, "--from", source.directory, "--force")).toMatchObject({ code: 0 });
  expect(await seeFindings()).toEqual([]);
});
