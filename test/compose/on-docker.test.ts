import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { project } from "./read-compose.ts";

/** The same as after a promotion (docs/operations.md). */
const settings = {
  COMPOSE_FILE: "docker-compose.yml:docker-compose.scale.yml",
  COMPOSE_PROJECT_NAME: "single-audit",
  POSTGRES_VOLUME: "single-audit_postgres-replica",
  POSTGRES_REPLICA_VOLUME: "single-audit_postgres-replica-2",
};
const live = ["single-audit_postgres", settings.POSTGRES_VOLUME, settings.POSTGRES_REPLICA_VOLUME];
const files = ["docker-compose.yml", "docker-compose.scale.yml", "package.json"];
const folders = ["db", "gateway", "scripts", "service", "test/compose"];

let directory: string;
let checkout: string;
let state: string;
let temporary: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "on-docker-"));
  checkout = path.join(directory, "checkout");
  state = path.join(directory, "state");
  temporary = path.join(directory, "temporary");
  await mkdir(temporary, { recursive: true });
  for (const name of [...files, ...folders]) {
    await cp(path.join(project, name), path.join(checkout, name), { recursive: true });
  }
  await symlink(path.join(project, "node_modules"), path.join(checkout, "node_modules"));
  execFileSync("git", ["init", "--quiet"], { cwd: checkout });
  const lines = Object.entries(settings).map((setting) => setting.join("="));
  await writeFile(path.join(checkout, ".env"), lines.join("\n"));
  await mkdir(path.join(checkout, "secrets"));
  await writeFile(path.join(checkout, "secrets/postgres_password"), "live");
  await mkdir(path.join(state, "volumes"), { recursive: true });
  for (const name of live) await writeFile(path.join(state, "volumes", name), "single-audit");
  await writeFile(path.join(state, "record"), "");
  await writePrograms();
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

/** Programs that act as if the service ran: docker, and the clients that the script starts. */
async function writePrograms(): Promise<void> {
  const npm = execFileSync("/bin/sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
  const programs = {
    docker: `exec "${process.execPath}" "${path.join(project, "test/compose/fake-docker.mjs")}" "${state}" "$@"`,
    npm: `case "$*" in *compose:*) exec "${npm}" "$@" ;; esac`,
    npx: "",
    node: `case "$*" in *read-slowly*) ;; *) exec "${process.execPath}" "$@" ;; esac`,
    sleep: "case $1 in 0.*) exec /bin/sleep 0.1 ;; *) exec /bin/sleep 0.5 ;; esac",
    curl: `
      case "$*" in
        *general*": none") printf 401 ;;
        *-w*) if rm "${state}/restarted" 2> /dev/null; then printf 503; else printf 200; fi ;;
        *) printf 200 ;;
      esac`,
  };
  await mkdir(path.join(directory, "bin"));
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(path.join(directory, "bin", name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
}

/** Starts the script in a process group of its own, as a terminal does. */
function start(): ChildProcess {
  const env = {
    ...process.env,
    ...settings,
    PATH: `${directory}/bin:${process.env.PATH}`,
    TMPDIR: temporary,
  };
  return spawn("bash", ["test/compose/on-docker.sh"], { cwd: checkout, env, detached: true });
}

/** @returns the exit status or the signal, and the output */
async function end(child: ChildProcess) {
  let said = "";
  child.stdout?.on("data", (data) => (said += data));
  child.stderr?.on("data", (data) => (said += data));
  const [status, signal] = await once(child, "close");
  return { status: status ?? signal, said };
}

const readRecord = async () => (await readFile(path.join(state, "record"), "utf8")).trim().split("\n");

async function expectLiveIsUntouched(): Promise<void> {
  expect((await readdir(path.join(state, "volumes"))).sort()).toEqual(live.toSorted());
  for (const line of await readRecord()) expect(line).toMatch(/^((uses|builds) single-audit-test.*)?$/);
  expect(await readdir(path.join(checkout, "secrets"))).toEqual(["postgres_password"]);
  // Made by mktemp.
  expect((await readdir(temporary)).filter((name) => name.startsWith("tmp."))).toEqual([]);
}

describe("npm run test:compose, beside a service whose .env and environment name its volumes", {
  timeout: 180_000,
}, () => {
  test("leaves its volumes, images and secrets alone when it runs to the end", async () => {
    const { status, said } = await end(start());
    await expectLiveIsUntouched();
    expect(status, said).toBe(0);
    const record = await readRecord();
    expect(record.some((line) => /^uses .*_postgres$/.test(line))).toBe(true);
    expect(record.some((line) => /^uses .*_postgres-replica-2$/.test(line))).toBe(true);
    expect(record.some((line) => /^builds .*-postgrest$/.test(line))).toBe(true);
  });

  test.each([
    { name: "by the terminal", signal: "SIGINT", group: true, code: 130 },
    { name: "by a signal to the script alone", signal: "SIGTERM", group: false, code: 143 },
  ] as const)("leaves them alone when it is interrupted $name", async ({ signal, group, code }) => {
    await writeFile(path.join(state, "hangs"), "");
    const child = start();
    const ended = end(child);
    await expect.poll(readRecord).toContainEqual(expect.stringMatching(/^uses/));
    process.kill(group ? -(child.pid ?? 0) : (child.pid ?? 0), signal);
    const { status, said } = await ended;
    await expectLiveIsUntouched();
    expect(status, said).toBe(code);
  });

  test("starts nothing if a compose file names a volume of another project", async () => {
    const file = path.join(checkout, "docker-compose.yml");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("  storage: {}", "  storage: { name: single-audit_postgres }"));
    const { status, said } = await end(start());
    await expectLiveIsUntouched();
    expect(status).toBe(1);
    expect(said).toMatch(/nothing was started.*\nsingle-audit_postgres\n/);
    expect(await readRecord()).toEqual([""]);
  });
});
