import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { checkLeaks, checkRequests, checkRows } from "../../../scripts/refresh/check-leaks.ts";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { connect } from "../../../service/connect.ts";
import { findServerUrl } from "../../support/scratch-database.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { api, attacks, definerFunction, grant } from "./leak-attacks.ts";
import { type Copy, copyRepository, run } from "./support.ts";

// On a server of its own: roles belong to a whole server, and other tests use theirs meanwhile.
let server: ScratchServer;
let url: string;
let client: Client;
let copy: Copy;
beforeAll(async () => {
  server = await startScratchServer();
  url = await server.create();
  await deployDatabase(url);
  client = await connect(url, "test");
  const sample = await makeSmallSample(200);
  await client.query("set role publisher");
  await loadDataSet(client, { source: "test", files: await findFiles(sample.directory) });
  await client.query("reset role");
  await sample.remove();
  copy = await copyRepository();
}, 60_000);
afterAll(async () => {
  await copy?.dispose();
  await client?.end();
  await server?.close();
});

/** What the gate says of a database to which this was done; nothing of it stays. */
async function askAfter(attack: string): Promise<string> {
  await client.query("begin");
  try {
    await client.query(attack);
    await checkRows(client, "");
    await checkLeaks(client);
    await checkRequests(client);
    return "";
  } catch (error) {
    return error instanceof Error && error.name === "LeaksFound" ? error.message : Promise.reject(error);
  } finally {
    await client.query("rollback");
  }
}

describe("the leak gate", () => {
  it("finds nothing wrong with what is deployed, and leaves nothing behind", async () => {
    const count =
      "select (select count(*) from suppressed.general) + (select count(*) from disclosed.general_stubs) as rows";
    const before = (await client.query(count)).rows;
    expect(await askAfter("")).toBe("");
    await client.query("begin");
    await checkLeaks(client);
    expect((await client.query(`${count}, current_user as role`)).rows).toEqual([
      { ...before[0], role: "postgres" },
    ]);
    await client.query("rollback");
  });

  it.each(attacks)("refuses %s", async (_name, attack, finding) => {
    expect(await askAfter(attack)).toMatch(finding);
  });

  it("lets pass what it can see through", async () => {
    const harmless = `create function ${api}.shout(${api}.general) returns text language sql immutable
      as $$ select upper($1.auditee_name) $$;
      ${grant(`execute on function ${api}.shout(${api}.general)`)}
      create function ${api}.of_state(state text) returns setof ${api}.general language sql stable
      as $$ select general.* from ${api}.general where general.auditee_state = state $$;
      ${grant(`execute on function ${api}.of_state(text)`)}`;
    expect(await askAfter(harmless)).toBe("");
  });

  it("tells no value of a suppressed row", async () => {
    const { rows } = await client.query("select report_id, auditee_name from suppressed.general");
    const said = await askAfter("alter role api_public bypassrls");
    expect(
      rows.filter(({ report_id, auditee_name }) => said.includes(report_id) || said.includes(auditee_name)),
    ).toEqual([]);
  });
});

describe("a deployment", () => {
  it("is refused before anything changes, and so is its plan", { timeout: 60_000 }, async () => {
    await copy.write(
      "api/api_v1_1_0/all_suppressed.sql",
      `${definerFunction}
      comment on function ${api}.all_suppressed() is 'All of it.';`,
    );
    for (const more of [["--plan"], []]) {
      const { code, output } = await run(runDeploy, ["--directory", copy.directory, ...more], {
        DATABASE_URL: url,
        SCRATCH_URL: findServerUrl(),
      });
      expect(output).toContain("api_v1_1_0.all_suppressed() is security definer in a served schema");
      expect(code).toBe(1);
    }
    const { rows } = await client.query("select to_regproc('api_v1_1_0.all_suppressed') as found");
    expect(rows).toEqual([{ found: null }]);
  });

  it("is held up by db:check as well", { timeout: 60_000 }, async () => {
    const { code, output } = await run("db-check", ["--directory", copy.directory], { SCRATCH_URL: url });
    expect(output).toMatch(
      /FAIL nothing that is served shows a suppressed submission\n +Suppressed submissions/,
    );
    expect(code).toBe(1);
  });
});
