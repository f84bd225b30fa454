import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { runKeys } from "../../../scripts/access/keys.ts";
import { connect } from "../../../shared/connect.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { queryOn } from "../../support/query-on.ts";
import { readBlocks } from "../../support/read-blocks.ts";
import { useOtherServer } from "../../support/scratch-database.ts";
import { refreshHere } from "../refresh/support/refresh.ts";
import { submission, writeCsv } from "../refresh/support/source-files.ts";
import { run, runDeploy, withLogin } from "./support.ts";

// A managed server gives its administrator no superuser. The SQL is that of docs/operations.md.

const server = useOtherServer();
const planServer = useOtherServer();

/** Runs a block of SQL as a person would: statement by statement. */
async function runBlock(url: string, block: string): Promise<void> {
  const client = await connect(url, "test");
  try {
    for (const statement of block.replaceAll("'…'", "'secret'").split(/;(?: *--.*)?\n/))
      if (statement.trim() !== "") await client.query(statement);
  } finally {
    await client.end();
  }
}

it("the master of a managed server creates the database; its owner deploys, and grants people what they need", async () => {
  const blocks = readBlocks(await readFile("docs/operations.md", "utf8"), "Rights").map(({ text }) => text);
  const find = (part: string) => blocks.find((text) => text.includes(part)) ?? "";
  // npm start's name, which the documents also use.
  await queryOn(server.url, "drop database single_audit");
  await queryOn(server.url, "create role master login createrole createdb password 'secret'");
  await runBlock(withLogin(server.url, "master"), find("create database"));

  const database = Object.assign(new URL(server.url), { pathname: "/single_audit" }).href;
  const asOwner = withLogin(database, "single_audit_owner");
  const env = { DATABASE_URL: asOwner, SCRATCH_URL: planServer.url, PUBLISHER_PASSWORD: "secret" };
  const deployed = await run(runDeploy, [], env);
  expect(deployed).toMatchObject({
    code: 0,
    output: expect.stringContaining("The API schemas were rebuilt"),
  });
  // The statement that only a superuser may run.
  expect(deployed.output).toContain("alter role authenticator set temp_file_limit");
  await runBlock(database, find("temp_file_limit"));
  const again = await run(runDeploy, [], env);
  expect(again).toMatchObject({ code: 0, output: expect.not.stringContaining("temp_file_limit") });

  const directory = await makeDirectory();
  await writeCsv(directory, "general", [submission(1), submission(2, { is_public: "f" })]);
  const asPublisher = { DATABASE_URL: withLogin(database, "publisher") };
  for (const args of [
    ["--new-ledger", await makeDirectory()],
    ["--from", directory],
  ])
    expect(await refreshHere(args, asPublisher)).toMatchObject({ code: 0 });

  await runBlock(asOwner, find("create role ada"));
  const asAda = { DATABASE_URL: withLogin(database, "ada"), SCRATCH_URL: planServer.url };
  expect(await run(runDeploy, ["--plan"], asAda)).toMatchObject({ code: 0 });
  expect(await run(runKeys, ["list"], asAda)).toMatchObject({ code: 0 });
});
