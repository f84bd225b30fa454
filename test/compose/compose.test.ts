import { execFile, execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { readRelease } from "../../scripts/deploy/release.ts";
import { makeDirectory } from "../support/make-directory.ts";
import { readBlocks, readRows } from "../support/read-blocks.ts";
import { programImage, project, readCompose, readProjectFile, readSmallCompose } from "./read-compose.ts";

const { services } = readCompose();
const entries = Object.entries(services);
const dockerfile = readProjectFile("Dockerfile");
const hasCompose = spawnSync("docker", ["compose", "version"]).status === 0;

test.skipIf(!hasCompose)("Docker Compose accepts docker-compose.yml with every profile", () => {
  const command = ["compose", "--profile", "*", "config", "--quiet", "--no-env-resolution"];
  execFileSync("docker", command, { cwd: project, stdio: "pipe" });
});

describe.each(entries)("the service %s", (name, service) => {
  const isOneShot = name === "migrate";
  const isTool = service.profiles?.includes("tools") ?? false;

  test("has a pinned image, and no two services build the same image", () => {
    const pinned = /^[\w./-]+:v?\d+\.\d+(\.\d+)?(-[\w.]+)*(@sha256:[0-9a-f]{64})?$/;
    const inline = service.build?.dockerfile_inline;
    for (const [, from = ""] of (inline ?? dockerfile).matchAll(/(?:^FROM |--from=)(\S+[.:]\S+)/gm))
      expect(from.replace(/\$\{\w+:-([^}]+)\}/, "$1")).toMatch(pinned);
    if (inline) expect(service.image).toBe(`${programImage}-${name}`);
    else if (!service.image.startsWith(programImage)) expect(service.image).toMatch(pinned);
  });

  test("has limited resources and a limited log", () => {
    expect(service).toMatchObject({
      logging: { driver: "local", options: { "max-size": "20m", "max-file": "5" } },
      restart: isOneShot ? "on-failure:3" : isTool ? "no" : "unless-stopped",
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      pids_limit: expect.any(Number),
      cpus: expect.any(Number),
    });
  });

  test("copies existing files into its image, readable by any user", () => {
    const { context = ".", dockerfile_inline = "" } = service.build ?? {};
    for (const [line, files = ""] of dockerfile_inline.matchAll(/^COPY (?!--from)(.*) \S+$/gm)) {
      expect(line).toMatch(/^COPY --chmod=0755 /);
      for (const file of files.replace("--chmod=0755 ", "").split(" "))
        expect(existsSync(path.join(project, context, file)), file).toBe(true);
    }
  });

  test("has a health check and waits for the services that it needs", () => {
    if (!isOneShot && !isTool) expect(service.healthcheck?.test?.[0]).toMatch(/^CMD(-SHELL)?$/);
    // What a shell leaves behind when it is killed at its timeout would otherwise count toward pids_limit forever.
    if (service.healthcheck?.test?.[0] === "CMD-SHELL") expect(service.init).toBe(true);
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      const wanted = needed === "migrate" ? "service_completed_successfully" : "service_healthy";
      expect([needed, condition]).toEqual([needed, wanted]);
    }
  });
});

const hasBusybox = spawnSync("busybox", ["true"]).status === 0;

test.skipIf(!hasBusybox)("no health check asks the proxy that Docker passes to containers", async () => {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Nothing listens on port 1.
  const env = { PATH: process.env.PATH, http_proxy: "http://127.0.0.1:1", no_proxy: "127.0.0.1" };
  const checks = entries.flatMap(([, { healthcheck }]) =>
    healthcheck?.test?.[1]?.endsWith("wget") ? [healthcheck.test.slice(2)] : [],
  );
  for (const check of checks) {
    const args = ["wget", ...check.map((part) => part.replace(/127\.0\.0\.1:\d+/, address))];
    await promisify(execFile)("busybox", args, { env });
  }
  server.close();
  expect(asked).toHaveLength(checks.length);
  expect(checks.length).toBeGreaterThan(0);
});

const readMegabytes = (limit = "") => Number.parseInt(limit, 10) * (limit.endsWith("g") ? 1024 : 1);
/** The sum of the memory limits of the services that always run, in megabytes. */
const addLimits = (changed: ReturnType<typeof readSmallCompose> = {}) =>
  entries
    .filter(([name, { profiles }]) => profiles === undefined && name !== "migrate")
    .map(([name, { mem_limit }]) => readMegabytes(changed[name]?.mem_limit ?? mem_limit))
    .reduce((sum, each) => sum + each, 0);

test("docs/operations.md states the memory that a host needs", () => {
  const gigabytes = (Math.ceil((addLimits() / 1024) * 10) / 10).toFixed(1);
  expect(readProjectFile("docs/operations.md")).toContain(`The host needs ${gigabytes} GB of memory`);
});

describe("docker-compose.small.yml", () => {
  const small = readSmallCompose();

  test("keeps the memory limits of what always runs below 4 GB, and changes nothing but limits", () => {
    expect(addLimits(small)).toBeLessThan(4000);
    for (const [name, service] of Object.entries(small)) {
      expect(services).toHaveProperty(name);
      expect(Object.keys(service).filter((key) => key !== "mem_limit" && key !== "environment")).toEqual([]);
    }
  });

  test("follows the rules of docs/operations.md for two connections and responses of 60 MB", () => {
    const [connections, response] = [Number(small.postgrest?.environment?.PGRST_DB_POOL), 60];
    expect(small.postgrest?.environment?.PGRST_DB_MAX_ROWS).toBe("1000");
    const read = (name: string) => readMegabytes(small[name]?.mem_limit);
    expect(read("postgrest")).toBeGreaterThan(64 + connections * 5.5 * response);
    // A small data set needs only half of the 512 MB.
    expect(read("postgres")).toBeGreaterThan((256 + connections * (16 + 64 + 4.5 * response)) / 0.6);
  });
});

test.each(["README.md", "docs/operations.md", "docs/keys.md", "docs/refresh.md", "docs/scaling.md"])(
  "on-docker.sh runs each block and each table of %s that calls Docker Compose",
  (file) => {
    const [document, script] = [readProjectFile(file), readProjectFile("test/compose/on-docker.sh")];
    for (const [, heading = ""] of document.matchAll(/^## (.+)$/gm)) {
      const blocks = readBlocks(document, heading).map(({ text }) => text);
      const commands = [...blocks, ...readRows(document, heading).map(([, command]) => command)];
      if (commands.some((command) => /docker compose |compose:/.test(command)))
        expect(script).toMatch(new RegExp(`${file} "?${heading}"?`));
    }
  },
);

/**
 * Runs scripts/compose-<name>.sh with a program named docker that logs its arguments, fails if they match `failing`, and answers each
 * question with 1, or as `answers` says.
 */
async function runScript(name: string, args: string[], failing = "^$", answers: Record<string, string> = {}) {
  const directory = await makeDirectory();
  const log = path.join(directory, "log");
  const release = path.join(directory, "release");
  const sqlLog = path.join(directory, "sql");
  const script = `#!/bin/sh
echo "$*" >> ${log}
printenv RELEASE > ${release}
case $* in *" psql "*) cat >> ${sqlLog} ;; esac
case $* in
${Object.entries(answers)
  .map(([words, answer]) => `  *"${words}"*) printf "${answer}\\n" ;;\n`)
  .join("")}
  *" psql "* | *" storage sh "*"if "*) echo 1 ;;
esac
! echo "$*" | grep -qE '${failing}'
`;
  await writeFile(path.join(directory, "docker"), script, { mode: 0o755 });
  const env = { PATH: `${directory}:${process.env.PATH}` };
  const file = path.join(project, `scripts/compose-${name}.sh`);
  const { status, stdout, stderr } = spawnSync("sh", [file, ...args], { env, encoding: "utf8" });
  const ran = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  const stamp = existsSync(release) ? readFileSync(release, "utf8") : "";
  const sql = existsSync(sqlLog) ? readFileSync(sqlLog, "utf8") : "";
  return { status, output: stdout + stderr, ran, stamp, sql };
}

test.each(["backup", "restore", "upgrade"])(
  "npm run compose:%s does nothing if it is asked for help or gets an unknown option",
  async (name) => {
    const help = await runScript(name, ["--help"]);
    expect(help).toMatchObject({ status: 0, ran: [] });
    expect(help.output).toContain(`npm run compose:${name}`);
    expect(await runScript(name, ["--now"])).toMatchObject({ status: 1, ran: [] });
  },
);

describe("npm run compose:upgrade", () => {
  test("builds, migrates, and only then replaces services", async () => {
    const { status, ran, stamp } = await runScript("upgrade", []);
    const steps = ran.map((line) => /^compose (\w+)(?:.* ([a-z-]+))?$/.exec(line)?.slice(1).join(" "));
    expect([status, steps]).toEqual([
      0,
      ["build ", "run migrate", "up report-service", "up gateway", "up --wait"],
    ]);
    // The image records the release.
    const read = await readRelease(path.join(project, "db"));
    expect(JSON.parse(stamp)).toEqual(JSON.parse(JSON.stringify(read)));
    expect(readCompose().services.migrate?.build?.args).toEqual(["RELEASE"]);
    expect(dockerfile).toMatch(/^ARG RELEASE\nRUN printf %s "\$RELEASE" > release\.json\b/m);
  });

  test("replaces nothing if a migration fails", async () => {
    const { status, ran } = await runScript("upgrade", [], "migrate");
    expect([status === 0, ran.at(-1)]).toEqual([false, "compose run --rm migrate"]);
  });

  test("rolls back if it is told to: the programs first, then the database, also if a program is not healthy", async () => {
    for (const failing of ["", "wait postgrest"]) {
      const { status, ran } = await runScript("upgrade", ["--roll-back"], failing || undefined);
      const steps = ran.map((line) => /^compose (?:up.* postgrest|run|build|up)\b/.exec(line)?.[0]);
      expect([status, steps.filter(Boolean)]).toEqual([
        0,
        [
          "compose build",
          "compose up --detach --no-deps --wait postgrest",
          "compose run",
          ...Array(3).fill("compose up"),
        ],
      ]);
      expect(ran).toContain("compose run --rm migrate --roll-back");
    }
  });

  test.each([
    { major: 18, kept: [] },
    { major: 19, kept: ["postgres"] },
  ])("a rollback keeps PostgreSQL $major if the older release has 18", async ({ major, kept }) => {
    const { ran } = await runScript("upgrade", ["--roll-back"], undefined, {
      "exec -T postgres sh": String(major),
      "config --services": "postgres\ngateway",
    });
    const built =
      ran
        .find((line) => line.startsWith("compose build"))
        ?.split(" ")
        .slice(2) ?? [];
    expect(["postgres", "gateway"].filter((service) => !built.includes(service))).toEqual(kept);
  });
});

describe("npm run compose:backup", () => {
  test("makes a directory that only its owner can read", async () => {
    const into = await makeDirectory();
    expect(await runScript("backup", [into])).toMatchObject({ status: 0 });
    const [backup = ""] = await readdir(into);
    const files = (await readdir(path.join(into, backup))).map((file) => path.join(into, backup, file));
    for (const file of [path.join(into, backup), ...files])
      expect((await stat(file)).mode & 0o077, file).toBe(0);
    expect(files.map((file) => path.basename(file))).toEqual(["durable.sql", "ledger.tar", "reports.tar"]);
  });

  test.each(["pg_dump", "publish", "exec -T storage", "tar .* reports$"])(
    "leaves nothing if %s fails",
    async (failing) => {
      const into = await makeDirectory();
      const { status } = await runScript("backup", [into], failing);
      expect([status === 0, await readdir(into)]).toEqual([false, []]);
    },
  );
});

describe("npm run compose:restore", () => {
  const makeBackup = async () => {
    const backup = await makeDirectory();
    await writeFile(path.join(backup, "durable.sql"), "");
    return backup;
  };
  const startsAll = "compose up --detach --wait";

  test("refuses to replace a database that has data, unless it is told to", async () => {
    const { status, output, ran } = await runScript("restore", [await makeBackup()]);
    expect([status, output]).toEqual([1, expect.stringContaining("--replace")]);
    expect(ran.filter((line) => line.includes("migrate"))).toEqual([]);
  });

  test("does not replace a database whose revocations wait to be written to the ledger", async () => {
    const { status, output, ran } = await runScript("restore", ["--replace", await makeBackup()]);
    expect([status, output]).toEqual([1, expect.stringContaining("not in the ledger yet")]);
    expect(ran).not.toContain(startsAll);
  });

  test("nor a database in which a key was revoked after that check", async () => {
    const { status, output, ran } = await runScript("restore", ["--replace", await makeBackup()], undefined, {
      "ON_ERROR_STOP=1 postgres": "1",
      psql: "",
    });
    expect([status, output]).toEqual([1, expect.stringContaining("not in the ledger yet")]);
    expect(ran).not.toContain(startsAll);
  });

  test("stops PostgREST on a new server, and drops the empty database, from which it would answer", async () => {
    for (const [isEmpty, first] of [
      ["t", "drop database if exists single_audit "],
      ["f", "drop database if exists single_audit_restored "],
    ] as const) {
      const answers = { "ON_ERROR_STOP=1 single_audit": isEmpty, "ON_ERROR_STOP=1 postgres": "1" };
      const { sql, ran } = await runScript("restore", ["--replace", await makeBackup()], undefined, answers);
      expect(/drop database if exists \w+ /.exec(sql)?.[0]).toBe(first);
      expect(ran.includes("compose stop postgrest")).toBe(isEmpty === "t");
    }
  });

  test("replaces nothing if the deployment fails", async () => {
    const { status, ran } = await runScript("restore", ["--replace", await makeBackup()], "migrate");
    // It drops the database that it made.
    const [failed, last] = ran.slice(-2);
    expect([status, failed, last]).toEqual([
      1,
      expect.stringContaining("migrate"),
      expect.stringMatching(/ psql .* postgres$/),
    ]);
  });

  test("lets services recover before it starts the others, because `up` would fail", async () => {
    const { status, ran } = await runScript("restore", ["--replace", await makeBackup()], undefined, {
      psql: "",
      // One of them is unhealthy when it is first asked.
      "ps --format": "$([ -e $0.asked ] || echo unhealthy; touch $0.asked)",
    });
    expect([status, ran.slice(-3)]).toEqual([
      0,
      [expect.stringContaining("compose ps"), expect.stringContaining("compose ps"), startsAll],
    ]);
  });

  test("names a backup that is none", async () => {
    const directory = await makeDirectory();
    const { output, ran } = await runScript("restore", [directory]);
    expect([output, ran]).toEqual([expect.stringContaining(directory), []]);
  });
});

test.each([
  ["cgroup v2", "memory.max", "2147483648\n", "819MB"],
  ["cgroup v2, without a limit", "memory.max", "max\n", "409MB"],
  ["cgroup v1", "memory/memory.limit_in_bytes", "2147483648\n", "819MB"],
  ["cgroup v1, without a limit", "memory/memory.limit_in_bytes", "9223372036854771712\n", "409MB"],
])("PostgreSQL's settings follow the container's memory limit: %s", async (_, file, limit, buffers) => {
  const directory = await makeDirectory();
  await mkdir(path.join(directory, "memory"));
  await writeFile(path.join(directory, file), limit);
  const script = path.join(project, "scripts/servers/postgres-settings.sh");
  const settings = execFileSync("sh", [script, directory], { encoding: "utf8" });
  const lines = settings.split("\n");
  expect(lines).toContain(`-c shared_buffers=${buffers}`);
  // PostgreSQL must not log the parameters of statements, because they may be tokens.
  for (const name of ["log_parameter_max_length", "log_parameter_max_length_on_error"])
    expect(lines).toContain(`-c ${name}=0`);
});
