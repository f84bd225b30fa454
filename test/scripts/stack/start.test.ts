import { execFileSync } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readStackConfig } from "../../../scripts/stack/config.ts";
import { startStack } from "../../../scripts/stack/start-stack.ts";
import { listChildren, listProcesses } from "../../support/list-processes.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { queryOn } from "../../support/query-on.ts";
import { freePorts, type RunningStack, runScript, runStack } from "../../support/run-stack.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { send } from "../../support/target.ts";

// Covers npm start from the first start of a stack to its second.

let directory: string;
let stack: RunningStack;

beforeAll(async () => {
  directory = await makeDirectory();
  const args = ["--data", await makeSmallSample()];
  stack = await runStack({ directory, args, env: { DATABASE_MEMORY: "512" } });
});
afterAll(() => stack.dispose());

const read = () =>
  send(stack.facts.base_url, "/general?limit=1", { key: { value: stack.facts.keys.individual } });

it("names a port that is taken and the variable that changes it", async () => {
  // This file's stack already listens on this port.
  const { port } = new URL(stack.facts.base_url);
  for (const variable of Object.keys(freePorts)) {
    const own = { ...freePorts, [variable]: port, STACK_DIRECTORY: await makeDirectory() };
    const refused = startStack({ config: readStackConfig(own), report: () => {} });
    await expect(refused.ready).rejects.toMatchObject({
      message: `Port ${port} is taken. Set ${variable} to another port, or to 0 for any free one.`,
    });
    await refused.stop();
  }
});

it.each<[string[], Record<string, string>, RegExp]>([
  [["--data", "/nowhere"], {}, /^\/nowhere cannot be read: ENOENT/],
  [[], { DATABASE_URL: "postgres://x:x@127.0.0.1:1/x" }, /^Cannot connect to the database at 127.0.0.1:1: /],
  [[], { APP_PORT: "70000" }, /^APP_PORT should be a port number/],
  [[], { DATABASE_URL: "mysql://root:hidden@h/x" }, /^DATABASE_URL should be a URL such as (?!.*hidden)/],
])("exits with 1 and names what it cannot use, without passwords: %j %j", async (args, env, message) => {
  const other = await makeDirectory();
  const start = runScript("start.ts", args, { ...freePorts, STACK_DIRECTORY: other, ...env });
  expect(await start.exited).toBe(1);
  expect(start.output()).toMatch(message);
});

it("prints URLs, keys and commands that work as printed", async () => {
  const { keys, base_url, app_url, sample: reports } = stack.facts;
  for (const fact of [base_url, app_url, ...Object.values(keys)]) expect(stack.output()).toContain(fact);
  const printed = stack.output().slice(stack.output().indexOf("A public submission:"));
  const commands = printed.split("\n").filter((line) => line.startsWith("  "));
  const output = execFileSync("bash", ["-euc", commands.join("\n")], { cwd: directory, encoding: "utf8" });
  expect(output).toContain(`"report_id":"${reports.public_report_id}"`);
  expect(output).toContain(`"report_id":"${reports.suppressed_report_id}"`);
  expect(await readFile(path.join(directory, "report.pdf"), "latin1")).toMatch(/^%PDF-/);
});

it("lets only its owner read its files, and shows no secret in ps or in its log", async () => {
  for (const name of ["stack.json", "secrets.json", "stack.log"])
    expect((await stat(path.join(directory, name))).mode & 0o777, name).toBe(0o600);
  await send(stack.facts.base_url, `/general?limit=1&api_key=${stack.facts.keys.individual}`);
  const seen =
    execFileSync("ps", ["-e", "-o", "args="], { encoding: "utf8" }) +
    (await readFile(path.join(directory, "stack.log"), "utf8"));
  const secrets = JSON.stringify(JSON.parse(await readFile(path.join(directory, "secrets.json"), "utf8")));
  const values = [...secrets.matchAll(/"([^"]{30,})"/g)].map(([, value = ""]) => value);
  expect(values.length).toBeGreaterThan(6);
  for (const secret of values) expect(seen.includes(secret)).toBe(false);
});

it("refuses to start a second stack in the same directory, and names the first", async () => {
  const second = runScript("start.ts", [], { ...freePorts, STACK_DIRECTORY: directory });
  expect(await second.exited).toBe(1);
  expect(second.output()).toContain(`as process ${stack.facts.pid}`);
  expect((await read()).status).toBe(200);
});

/** Replaces the roles' passwords, as docs/operations.md says. */
async function replacePasswords(password: string): Promise<void> {
  const file = path.join(directory, "secrets.json");
  const secrets = JSON.parse(await readFile(file, "utf8"));
  for (const role of Object.keys(secrets.rolePasswords)) secrets.rolePasswords[role] = password;
  await writeFile(file, JSON.stringify(secrets));
}

it("stops on Ctrl-C with exit status 0, leaves no process behind, and restarts with its data, keys, changes made by hand and any new passwords", async () => {
  const { keys } = stack.facts;
  await queryOn(stack.facts.database_url, "update access.tiers set requests_at_a_time = 1");
  const children = listChildren(stack.pid);
  expect(children.map(({ command }) => command).join()).toMatch(/postgres.*postgrest/);
  stack.kill("SIGINT");
  expect(await stack.exited).toBe(0);
  const left = () => listProcesses().filter(({ pid }) => children.some((child) => child.pid === pid));
  await expect.poll(left).toEqual([]);
  await replacePasswords("100%20 /?#@:é");
  stack = await runStack({ directory });
  expect(stack.facts.keys).toEqual(keys);
  expect(stack.output()).not.toMatch(/Generating|Loading/);
  const limits = "select distinct requests_at_a_time as limit from access.tiers";
  expect(await queryOn(stack.facts.database_url, limits)).toEqual([{ limit: 1 }]);
  expect((await read()).json).toHaveLength(1);
  const page = `/dissemination/report/pdf/${stack.facts.sample.public_report_id}`;
  expect((await send(stack.facts.app_url, page)).status).toBe(302);
});
