import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { programArguments } from "../../support/compile-programs.ts";
import { configFor, startGateway, startUpstream } from "./support.ts";

describe("npm run gateway:embedded", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gateway-embedded-"));
    return () => rm(folder, { recursive: true });
  });

  test("prints its usage for --help", async () => {
    const { code, stdout } = await runCommand(["--help"]);
    expect(code).toBe(0);
    for (const option of ["--config", "--port", "--host", "--metrics-port", "--trusted-ips"]) {
      expect(stdout).toContain(option);
    }
  });

  test("says what is wrong", async () => {
    const foreign = join(folder, "foreign.yml");
    await writeFile(foreign, configFor("http://127.0.0.1:1", [{ name: "acl", config: {} }]));
    const { port } = new URL((await startGateway({ config: configFor("http://127.0.0.1:1") })).url);
    const ports = ["--port", "0", "--metrics-port", "0"];
    const errors: [string[], string][] = [
      [["--config", `${folder}/none.yml`, ...ports], `--config ${folder}/none.yml: no such file`],
      [["--config", foreign, ...ports], "plugins[0].name"],
      [ports, "POSTGREST_URL is not set."],
      [["--config", foreign, "--port", "x"], "expected a port number"],
    ];
    const good = ["--config", join(folder, "good.yml")];
    await writeFile(join(folder, "good.yml"), configFor("http://127.0.0.1:1"));
    errors.push(
      [[...good, "--metrics-port", "0", "--port", port], `Port ${port} is in use.`],
      [[...good, "--port", "0", "--metrics-port", port], `Port ${port} is taken. Set --metrics-port`],
      [[...good, ...ports, "--trusted-ips", "10.0.0.0/99"], '"10.0.0.0/99" is not an IP address'],
    );
    for (const [args, message] of errors) {
      const { code, stderr } = await runCommand(args);
      expect(stderr).toContain(message);
      expect(code).toBe(1);
    }
  });

  test.for(["SIGINT", "SIGTERM"] as const)("serves until %s and then ends well", async (signal) => {
    const upstream = await startUpstream((_, response) => response.end("ok"));
    const env = { POSTGREST_URL: upstream, GATEWAY_TOKEN: "a token" };
    const child = startCommand(["--port", "0", "--metrics-port", "0"], env);
    const ready = /Gateway ready on (http:\S+), metrics on (http:\S+)\/metrics/;
    await expect.poll(() => child.output(), { timeout: 30_000 }).toMatch(ready);
    const [, url = "", metricsUrl = ""] = ready.exec(child.output()) ?? [];
    expect((await fetch(`${metricsUrl}/status`)).status).toBe(200);
    const answer = await fetch(`${url}/general`, { headers: { "x-api-key": "DEMO_KEY" } });
    expect(await answer.text()).toBe("ok");
    expect(await (await fetch(`${metricsUrl}/metrics`)).text()).toContain(
      'kong_http_requests_total{service="postgrest",route="postgrest-demo",code="200",source="service"} 1',
    );
    child.process.kill(signal);
    expect(await child.exit).toBe(0);
  });
});

function startCommand(args: string[], env: Record<string, string> = {}) {
  const root = new URL("../../../", import.meta.url).pathname;
  const child: ChildProcess = spawn(
    process.execPath,
    [...programArguments("scripts/gateway-embedded.ts"), ...args],
    {
      cwd: root,
      env: { ...process.env, POSTGREST_URL: "", GATEWAY_TOKEN: "", ...env },
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

async function runCommand(args: string[]) {
  const { text, exit } = startCommand(args);
  const code: unknown = await exit;
  return { code, ...text };
}
