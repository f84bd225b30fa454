import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { probeKong, startKong } from "../../../scripts/stack/kong.ts";
import { programArguments } from "../../support/compile-programs.ts";
import { freePorts, type RunningStack, runScript, runStack } from "../../support/run-stack.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { send } from "../../support/target.ts";
import { waitFor } from "./support.ts";

const project = path.resolve(import.meta.dirname, "../../..");
let directory: string;
let kong: string;
let sample: Awaited<ReturnType<typeof makeSmallSample>>;
const opened: (() => unknown)[] = [];

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "fake-kong-"));
  // Anyone can reach it, as where it is installed.
  await chmod(directory, 0o755);
  kong = path.join(directory, "kong");
  sample = await makeSmallSample();
  // Like Kong's own, a chain of programs of which the first passes no signal on.
  await writeFile(
    kong,
    `#!/bin/sh
trap : TERM
if [ "$KONG_FAKE" = ends ]; then echo "Error: the plugins cannot be loaded" >&2; exit 1; fi
env > "$KONG_PREFIX/environment"
echo "$@" > "$KONG_PREFIX/arguments"
id -u > "$KONG_PREFIX/user"
if [ "$1" = migrations ]; then echo "$2" >> "$KONG_PREFIX/migrations"; exit 0; fi
cd ${project} && ${process.execPath} ${programArguments("test/gateway/sync/fake-kong.ts").join(" ")}
`,
    { mode: 0o755 },
  );
});
afterAll(async () => {
  await sample.remove();
  await rm(directory, { recursive: true, force: true });
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Runs `npm start -- --gateway kong` until it ends by itself. */
async function fail(env: Record<string, string>) {
  const stackDirectory = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
  opened.push(() => rm(stackDirectory, { recursive: true, force: true }));
  const script = runScript("start.ts", ["--gateway", "kong", "--data", sample.directory], {
    ...freePorts,
    STACK_DIRECTORY: stackDirectory,
    ...env,
  });
  expect(await script.exited).toBe(1);
  return script.output();
}

/** Runs it until it serves: with the data that is there, from the second time on in the same directory. */
async function startOnKong(
  env: Record<string, string> = {},
  stackDirectory = path.join(directory, "stack"),
): Promise<RunningStack> {
  const stack = await runStack({
    directory: stackDirectory,
    args: ["--gateway", "kong", ...(existsSync(stackDirectory) ? [] : ["--data", sample.directory])],
    env: { KONG_BIN: kong, ...env },
  });
  opened.push(async () => {
    stack.kill("SIGINT");
    await stack.exited;
  });
  return stack;
}

const readPrefix = (stack: RunningStack, file: string) =>
  readFile(path.join(stack.directory, "kong", file), "utf8");

describe("npm start -- --gateway kong", () => {
  test("serves by Kong, and stops it", async () => {
    const stack = await startOnKong({ TRUSTED_IPS: "10.0.0.0/8, 192.0.2.1", KONG_LOG_LEVEL: "debug" });
    const { base_url: baseUrl, keys } = stack.facts;
    expect(await send(baseUrl, "/general?limit=1", { key: { value: keys.individual } })).toMatchObject({
      status: 200,
    });
    expect(await readPrefix(stack, "migrations")).toBe("bootstrap\nup\nfinish\n");
    expect((await readPrefix(stack, "arguments")).trim()).toBe("start");
    const environment = Object.fromEntries(
      (await readPrefix(stack, "environment")).split("\n").map((line) => line.split(/=(.*)/).slice(0, 2)),
    );
    expect(environment).toMatchObject({
      KONG_DATABASE: "postgres",
      KONG_PG_USER: "kong",
      KONG_PG_DATABASE: "kong",
      KONG_PG_PORT: new URL(stack.facts.database_url).port,
      GATEWAY_TOKEN: expect.stringMatching(/^eyJ/),
      KONG_UNTRUSTED_LUA_SANDBOX_REQUIRES: "kong.tools.sha256",
      KONG_NGINX_DAEMON: "off",
      KONG_PREFIX: path.join(stack.directory, "kong"),
      KONG_PROXY_LISTEN: new URL(baseUrl).host,
      KONG_ADMIN_LISTEN: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      KONG_NGINX_PROXY_GZIP_TYPES: expect.stringContaining("application/json text/csv"),
      KONG_PROXY_ACCESS_LOG: "logs/access.log without_query",
      KONG_NGINX_HTTP_LOG_FORMAT: expect.not.stringMatching(/\$(request |request"|request_uri|args|query)/),
      KONG_TRUSTED_IPS: "10.0.0.0/8,192.0.2.1",
      KONG_REAL_IP_HEADER: "X-Forwarded-For",
      KONG_REAL_IP_RECURSIVE: "on",
      // The caller may have more in the log, and answers for it.
      KONG_LOG_LEVEL: "debug",
    });
    expect(environment).not.toHaveProperty("KONG_BIN");
    // Where the stack runs as root, Kong is nobody, like the stack's other programs.
    const user = Number(await readPrefix(stack, "user"));
    expect(user).toBe(process.getuid?.() === 0 ? 65534 : process.getuid?.());

    stack.kill("SIGINT");
    expect(await stack.exited).toBe(0);
    await expect(send(baseUrl, "/")).rejects.toThrow();
  });

  test("serves where the stack's directory is below one that is closed to others", async () => {
    const closed = await mkdtemp(path.join(tmpdir(), "closed-"));
    opened.push(() => rm(closed, { recursive: true, force: true }));
    const stack = await startOnKong({}, path.join(closed, "stack"));
    expect((await readPrefix(stack, "arguments")).trim()).toBe("start");
  });

  test("starts Kong again when it dies", async () => {
    const stack = await startOnKong();
    const first = await readPrefix(stack, "pid");
    process.kill(Number(first), "SIGKILL");
    await waitFor("Kong has begun anew", async () => {
      const pid = await readPrefix(stack, "pid").catch(() => "");
      return pid !== "" && pid !== first;
    });
    await waitFor("Kong is back", () => stack.output().includes("Kong is back."));
    expect(stack.output()).toMatch(/^Kong ended with .*It is started again\.$/m);
  });

  test("leaves no Kong behind when the stack itself is killed", async () => {
    const stack = await startOnKong();
    process.kill(stack.pid, "SIGKILL");
    await waitFor("Kong has ended", () =>
      send(stack.facts.base_url, "/").then(
        () => false,
        () => true,
      ),
    );
  });
});

describe("npm start -- --gateway kong fails with what to do", () => {
  test("where there is no Kong, at once", async () => {
    const output = await fail({ PATH: "/nonexistent" });
    expect(output).toBe(
      "Kong is not here. Put kong (3.9) on the PATH or set KONG_BIN to the program; or leave out --gateway kong, and unset GATEWAY, for the embedded gateway.\n",
    );
  });

  test("where KONG_BIN is no program", async () => {
    expect(await fail({ KONG_BIN: `${directory}/none` })).toBe(
      `KONG_BIN names ${directory}/none, which is not a program that can be run.\n`,
    );
  });

  test("when Redis cannot be reached", async () => {
    expect(await fail({ KONG_BIN: kong, REDIS_HOST: "127.0.0.1", REDIS_PORT: "1" })).toBe(
      "Redis cannot be reached on 127.0.0.1:1 (ECONNREFUSED). Set REDIS_HOST and REDIS_PORT, or unset them.\n",
    );
  });

  test("when Kong cannot start", async () => {
    const prefix = path.join(directory, "prefix");
    const start = startKong(
      {
        program: kong,
        prefix,
        port: 1,
        adminPort: 1,
        trustedIps: [],
        databaseUrl: "postgres://kong:none@127.0.0.1:1/kong",
        migrates: true,
        secrets: { gatewayToken: "none" },
        environment: { ...process.env, KONG_FAKE: "ends" },
      },
      () => {},
    );
    await expect(start).rejects.toThrow(
      "kong migrations ended with exit code 1.\n  Error: the plugins cannot be loaded",
    );
  });

  test("when its sandbox does not let it hash keys", async () => {
    const failing = createServer((_request, response) => response.writeHead(500).end());
    await new Promise<void>((resolve) => failing.listen(0, "127.0.0.1", resolve));
    opened.push(() => failing.close());
    await expect(probeKong(`http://127.0.0.1:${(failing.address() as AddressInfo).port}`)).rejects.toThrow(
      "Set KONG_UNTRUSTED_LUA_SANDBOX_REQUIRES=kong.tools.sha256",
    );
  });

  test("when GATEWAY is neither kind", async () => {
    const script = runScript("start.ts", [], { ...freePorts, GATEWAY: "nginx" });
    expect(await script.exited).toBe(1);
    expect(script.output()).toBe(
      "GATEWAY=nginx should be embedded or kong. Set it in the environment or in .env.\n",
    );
  });
});
