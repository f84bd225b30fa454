import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { programArguments } from "../../support/compile-programs.ts";
import { documentFor, startGateway, startUpstream } from "./support.ts";

describe("npm run gateway:embedded", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gateway-embedded-"));
    return () => rm(folder, { recursive: true });
  });

  test("prints its usage for --help", async () => {
    const { code, stdout } = await runCommand(["--help"]);
    expect(code).toBe(0);
    for (const option of [
      "--config",
      "--port",
      "--host",
      "--admin-port",
      "--entities",
      "--trusted-ips",
      "--no-gzip",
    ]) {
      expect(stdout).toContain(option);
    }
  });

  test("says in one line what is wrong", async () => {
    const good = join(folder, "good.yml");
    const broken = join(folder, "broken.yml");
    const foreign = join(folder, "foreign.yml");
    await writeFile(good, '_format_version: "3.0"\n');
    await writeFile(broken, '_format_version: "3.0"\nservices: [\n- name: a: b\n');
    await writeFile(foreign, '_format_version: "3.0"\nplugins:\n- name: acl\n');
    const { port } = new URL((await startGateway({})).proxyUrl);
    const errors: [string[], string | RegExp][] = [
      [["--config", `${folder}/none.yml`, "--port", "0"], `--config ${folder}/none.yml: no such file`],
      [["--config", broken, "--port", "0"], /--config \S+broken\.yml: line \d+: invalid YAML/],
      [["--config", foreign, "--port", "0"], 'plugins[0].name: plugin "acl" not implemented'],
      [["--config", good, "--port", port], `--port ${port}: the port is in use`],
      [["--config", good, "--port", "0", "--admin-port", port], `--admin-port ${port}: the port is in use`],
      [["--config", good, "--port", "x"], "expected a port number"],
      [["--config", good, "--port", "0", "--trusted-ips", "10.0.0.0/99"], 'trusted address "10.0.0.0/99"'],
    ];
    const { code, stderr } = await runCommand(["--config", good, "--port", "0", "--admin-port", "0"], "");
    expect([code, stderr]).toEqual([1, expect.stringContaining("set GATEWAY_ADMIN_TOKEN")]);
    await Promise.all(
      errors.map(async ([args, message]) => {
        const { code, stderr } = await runCommand(args);
        expect(stderr).toMatch(message);
        expect(stderr.trim().split("\n")).toHaveLength(1);
        expect(code).toBe(1);
      }),
    );
  });

  test.for(["SIGINT", "SIGTERM"] as const)("serves until %s and then ends well", async (signal) => {
    const config = join(folder, `${signal}.yml`);
    const upstream = await startUpstream((_, response) => response.end("ok"));
    await writeFile(config, JSON.stringify(documentFor(upstream)));
    const child = startCommand(["--config", config, "--port", "0"]);
    const ready = /Gateway ready on (http:\S+)/;
    await expect.poll(() => child.output(), { timeout: 30_000 }).toMatch(ready);
    const url = ready.exec(child.output())?.[1] ?? "";
    expect(await (await fetch(url)).text()).toBe("ok");
    child.process.kill(signal);
    expect(await child.exit).toBe(0);
  });
});

function startCommand(args: string[], adminToken = "a token") {
  const root = new URL("../../../", import.meta.url).pathname;
  const child: ChildProcess = spawn(
    process.execPath,
    [...programArguments("scripts/gateway-embedded.ts"), ...args],
    {
      cwd: root,
      env: { ...process.env, GATEWAY_ADMIN_TOKEN: adminToken },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const text = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => {
    text.stdout += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    text.stderr += chunk;
  });
  return {
    process: child,
    output: () => text.stdout,
    text,
    exit: once(child, "close").then(([code]) => code),
  };
}

async function runCommand(args: string[], adminToken?: string) {
  const { text, exit } = startCommand(args, adminToken);
  const code: unknown = await exit;
  return { code, ...text };
}
