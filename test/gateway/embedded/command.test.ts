import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { runScript } from "../../support/run-stack.ts";
import { configFor, send, startEmbedded, startUpstream, useGateways } from "../gateways.ts";

// npm run gateway:embedded

useGateways();
const run = (args: string[], env = {}) => runScript("gateway-embedded.ts", args, env);
const anyPorts = ["--port", "0", "--metrics-port", "0"];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "gateway-embedded-"));
  return () => rm(folder, { recursive: true });
});

test("an error says what is wrong", async () => {
  const good = path.join(folder, "good.yml");
  await writeFile(good, configFor("http://127.0.0.1:1"));
  const { port } = new URL((await startEmbedded(configFor("http://127.0.0.1:1"), "")).url);
  const errors: [string[], string][] = [
    [["--config", `${folder}/none.yml`, ...anyPorts], `--config ${folder}/none.yml: no such file`],
    [anyPorts, "POSTGREST_URL is not set."],
    [["--config", good, "--port", "x"], "expected a port number"],
    [["--config", good, "--metrics-port", "0", "--port", port], `Port ${port} is in use.`],
    [["--config", good, "--port", "0", "--metrics-port", port], `Port ${port} is taken. Set --metrics-port`],
    [["--config", good, ...anyPorts, "--trusted-ips", "10.0.0.0/99"], '"10.0.0.0/99" is not an IP address'],
  ];
  for (const [args, message] of errors) {
    const { exited, output } = run(args);
    expect([await exited, output()]).toEqual([1, expect.stringContaining(message)]);
  }
});

test.each(["SIGINT", "SIGTERM"] as const)("serves until %s and then ends with status 0", async (signal) => {
  const upstream = await startUpstream((_, response) => response.end("ok"));
  const { child, exited, output } = run(anyPorts, { POSTGREST_URL: upstream, GATEWAY_TOKEN: "a token" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ready = /Gateway ready on (http:\S+), metrics on (http:\S+)\/metrics/;
  await expect.poll(output, { timeout: 30_000 }).toMatch(ready);
  const [, url = "", metricsUrl = ""] = ready.exec(output()) ?? [];
  expect((await send(metricsUrl, "/status")).status).toBe(200);
  expect((await send(url, "/general", { headers: { "x-api-key": "DEMO_KEY" } })).body).toBe("ok");
  expect((await send(metricsUrl, "/metrics")).body).toContain(
    'kong_http_requests_total{service="postgrest",route="postgrest-demo",code="200",source="service"} 1',
  );
  child.kill(signal);
  expect(await exited).toBe(0);
});
