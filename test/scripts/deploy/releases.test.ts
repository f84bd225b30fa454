import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { $ } from "zx";
import { runCheck } from "../../../scripts/deploy/check-program.ts";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { readRelease } from "../../../scripts/deploy/release.ts";
import { connect } from "../../../shared/connect.ts";
import { findServerUrl } from "../../support/scratch-database.ts";
import { startScratchService } from "../../support/scratch-service.ts";
import { publishSample, readAll, run, useDeployments } from "./support.ts";

// Each test has its own deployed database, and its own repository with a copy of db.

const own = useDeployments();
const { copy, query } = own;
const nowhere = { SCRATCH_URL: "postgres://postgres@127.0.0.1:1/none" };

const inCheckout = () => path.dirname(copy.directory);
const git = async (...args: string[]) => {
  const settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.gov"];
  return (await $({ cwd: inCheckout(), quiet: true })`git ${settings} ${args}`).stdout.trim();
};
const commit = async (subject: string) => {
  await git("add", "--all");
  await git("commit", "--quiet", "--allow-empty", `--message=${subject}`);
  return (await git("rev-parse", "HEAD")).slice(0, 8);
};
const startRepository = async () => {
  await git("init", "--quiet", "--initial-branch=main");
  return await commit("first");
};
/** Deploys as operators do: whether files belong to a release matters. */
const exits = async (status: number, args: string[], ...texts: (string | RegExp)[]) => {
  const { code, output } = await run(runDeploy, ["--directory", copy.directory, ...args], own.env);
  expect(code, output).toBe(status);
  for (const text of texts) expect(output).toMatch(text);
};
const readRecorded = () =>
  query("select commit ->> 'subject' as subject, doubt from deployment.api_schemas order by id");

describe("a release", () => {
  it("must contain the one that was deployed last, or be told to roll back", async () => {
    const first = await startRepository();
    await exits(0, [], "Nothing to do.");
    const second = await commit("second");
    await exits(0, [], "Nothing to do.");
    const day = new Date().toISOString().slice(0, 10);
    const refusal = [
      "Nothing was deployed: this release does not contain the one that was deployed last",
      `deployed last: ${second} ${day} second (Ada)`,
    ];
    await git("checkout", "--quiet", first);
    for (const args of [[], ["--plan"], ["--promise"]])
      await exits(1, args, ...refusal, `this release:  ${first} ${day} first (Ada)`);
    const branch = await commit("branch");
    await exits(1, [], ...refusal, `this release:  ${branch} ${day} branch (Ada)`);
    await exits(0, ["--roll-back"], `This rolls back from ${second} ${day} second (Ada) to ${branch}`);
    await exits(0, []);
    await git("checkout", "--quiet", "main");
    await exits(1, [], `deployed last: ${branch}`);
    await git("merge", "--quiet", "--message=merge", branch);
    await exits(0, []);
    const subjects = (await readRecorded()).map(({ subject }) => subject);
    expect(subjects).toEqual([null, "first", "second", "branch", "merge"]);
  });

  it("is refused if its commit or order is not known, unless that is accepted", async () => {
    await exits(1, [], "Nothing was deployed: Git does not know the commit of");
    await startRepository();
    await exits(0, []);
    await copy.addColumn();
    for (const args of [[], ["--plan"]]) await exits(1, args, "db has uncommitted changes");
    await exits(0, ["--accept-unknown-release"], "The API schemas were rebuilt.");
    await exits(0, [], "Nothing to do.");
    await commit("second");
    await exits(0, []);
    await git("fetch", "--quiet", "--depth=1", `file://${inCheckout()}`, "HEAD");
    await writeFile(path.join(inCheckout(), ".git/shallow"), `${await git("rev-parse", "HEAD")}\n`);
    await exits(1, [], "the clone is shallow");
    await rm(path.join(inCheckout(), ".git"), { recursive: true });
    await copy.edit("api/api_v1_1_0/schema.sql", (text) => `${text}-- More.\n`);
    await exits(0, ["--accept-unknown-release"]);
    // The order goes on from the last commit that is known.
    expect(await readRecorded()).toMatchObject([
      { subject: null },
      { subject: "first", doubt: null },
      { subject: "first", doubt: "db has uncommitted changes" },
      { subject: "second", doubt: null },
      { subject: null, doubt: expect.stringContaining("Git does not know the commit of") },
    ]);
    const asNpmStart = deployDatabase(own.database.url, {}, { directory: copy.directory });
    await expect(asNpmStart).rejects.toThrow("the stack of npm start has none");
    await startRepository();
    await exits(1, [], "deployed last: ");
  });

  it("is the same whatever Git is set to show", async () => {
    const first = await startRepository();
    await git("config", "log.showSignature", "true");
    await git("config", "status.showUntrackedFiles", "no");
    await copy.write("api/api_v1_1_0/more.sql", "select 1;\n");
    expect(await readRelease(copy.directory)).toMatchObject({
      commit: { id: expect.stringMatching(`^${first}`), subject: "first" },
      doubt: "db has uncommitted changes",
    });
  });

  it("is read from the stamp of an image, which has no Git", async () => {
    const first = await startRepository();
    const stampOf = async () => JSON.stringify(await readRelease(copy.directory));
    const older = await stampOf();
    const second = await commit("second");
    const newer = await stampOf();
    await rm(path.join(inCheckout(), ".git"), { recursive: true });
    const stamp = (text: string) => writeFile(path.join(inCheckout(), "release.json"), text);
    await stamp(newer);
    await exits(0, []);
    await exits(0, [], "Nothing to do.");
    await stamp(older);
    await exits(1, [], `deployed last: ${second}`, `this release:  ${first}`);
    await stamp("");
    await exits(1, [], "the image was built without the build argument RELEASE");
  });

  it("is shown by --status, the newest first, without a scratch server", async () => {
    Object.assign(own.env, nowhere);
    const first = await startRepository();
    await copy.migrate("create table deployment.more ()");
    const second = await commit("second");
    await exits(0, ["--promise"]);
    await git("checkout", "--quiet", first);
    await exits(0, ["--roll-back"]);
    await exits(
      0,
      ["--status"],
      new RegExp(
        [
          `^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC, by postgres: ${first} \\S+ first \\(Ada\\)`,
          "  rolled back, changed no API, promised to clients",
          `\\d{4}-\\S+ \\S+ UTC, by postgres: ${second} \\S+ second \\(Ada\\)`,
          "  rebuilt the API, promised to clients, ran 20991231000000001_step",
          "\\d{4}-\\S+ \\S+ UTC, by postgres: unknown release",
          "  rebuilt the API, ran 2026\\d+_create_roles, ",
        ].join("\n"),
      ),
    );
    const { output } = await run(runDeploy, ["--status", "--json"], own.env);
    expect(JSON.parse(output)[0]).toMatchObject({ commit: { subject: "first" }, is_rollback: true });
  });
});

it("a rollback takes back the API and functions, keeps migrations, and names what clients lose, while they ask", async () => {
  const client = await connect(own.database.url, "test");
  await publishSample(client);
  const first = await startRepository();
  await exits(0, ["--promise"]);
  const before = await readAll(own.database.url, ["api"]);

  await copy.write(
    "functions/extensions/double.sql",
    `create or replace function extensions.double(number integer) returns integer language sql immutable return number * 2;
     grant execute on function extensions.double to key_operator;\n`,
  );
  await copy.write(
    "functions/access/watch_tiers.sql",
    `create or replace function access.watch_tiers() returns trigger language plpgsql as 'begin return new; end';
     create or replace trigger watch_tiers before update on access.tiers for each row execute function access.watch_tiers();\n`,
  );
  await copy.edit("functions/access/revoke_key.sql", (text) =>
    text.replace("(key_id uuid)", "(key_id uuid, reason text default '')"),
  );
  await copy.migrate(
    `alter table access.api_keys add column purpose integer not null default extensions.double(2);
     create table disclosed.more (report_id text, auditee_uei text, audit_year text, fac_accepted_date date, row_number integer);
     select data_set.add_table('more', is_source => true), data_set.add_column('general', 'auditee_county', 'text')`,
  );
  await copy.edit(
    "data_set/indexes.sql",
    (text) =>
      `${text}create index general_county on disclosed.general (auditee_county);\ncomment on index disclosed.general_county is 'general?auditee_county=eq.…';\n`,
  );
  await copy.edit("api/api_v1_1_0/general.sql", (text) =>
    text
      .replace("\nfrom dissemination.general;", ",\n  general.auditee_county$&")
      .concat("comment on column api_v1_1_0.general.auditee_county is E'County\\nA county.';\n"),
  );
  await run(runCheck, ["--directory", copy.directory, "--write"], { SCRATCH_URL: findServerUrl() });
  const second = await commit("second");
  const service = await startScratchService(own.database.url);
  const statuses = new Set<number>();
  const stop = new AbortController();
  const asking = (async () => {
    while (!stop.signal.aborted) statuses.add((await service.request("/general?limit=1")).status);
  })();
  const columns = async () => Object.keys((await service.request("/general?limit=1")).json[0]);

  await exits(0, ["--promise"], "The index disclosed.general_county is");
  await expect.poll(columns).toContain("auditee_county");
  await git("checkout", "--quiet", first);
  await exits(1, ["--promise"], `deployed last: ${second}`);
  const loss = /Breaking changes for clients:\n {2}api_v1_1_0: general\.auditee_county was removed/;
  const stay = "of a newer release stay, with the functions that they need: 20991231000000001_step.";
  await exits(3, ["--plan", "--roll-back"], loss, stay, /^(?![\s\S]*(dissemination|\.more\b|purpose))/);
  await exits(0, ["--roll-back"], `This rolls back from ${second}`, stay, loss);
  await expect.poll(columns).not.toContain("auditee_county");

  // The API and the functions are those of the first release, but for what the newer tables need.
  const kept = (object: string) =>
    /^(function extensions\.double|view dissemination\.(general|more)$)/.test(object);
  const named = (rows: typeof before) => rows.filter(({ object }) => !kept(object));
  expect(named(await readAll(own.database.url, ["api"]))).toEqual(named(before));
  expect(
    await query("select (access.issue_key('individual', 'a@example.gov')).api_key is null as none"),
  ).toEqual([{ none: false }]);
  expect(
    await query(
      "select has_function_privilege('key_operator', 'extensions.double(integer)', 'execute') as may",
    ),
  ).toEqual([{ may: true }]);

  // Later deployments of this release, and of one that contains it, need no option.
  await exits(0, ["--plan"], "Nothing to deploy.");
  await exits(0, ["--promise"], "Nothing to do.");
  await copy.edit("functions/access/verify_key.sql", (text) => `${text}-- More.\n`);
  const fix = await commit("fix");
  await exits(0, ["--promise"], "The API schemas were rebuilt.");
  await git("checkout", "--quiet", "main");
  await git("merge", "--quiet", "--message=merge", fix);
  await exits(0, ["--promise"], "Clients gain:\n  api_v1_1_0: general.auditee_county was added");
  await expect.poll(columns).toContain("auditee_county");
  stop.abort();
  await asking;
  expect([...statuses]).toEqual([200]);
  await service.stop();
  await client.end();
});
