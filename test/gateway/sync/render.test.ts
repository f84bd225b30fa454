import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../../gateway/embedded/declarative-config.ts";
import { maskDocument } from "../../../gateway/mask-secrets.ts";
import {
  type ActiveKey,
  type RenderOptions,
  renderDocument,
  serializeDocument,
} from "../../../gateway/render-document.ts";
import { signGatewayToken, templateFile } from "../../../gateway/start-sync.ts";
import { runScript } from "../../support/run-stack.ts";

const template = await readFile(templateFile, "utf8");
const limits = {
  individual: { tier: "individual", requests_per_hour: 1000, requests_per_day: null, limited_by: "key" },
  tribal: { tier: "tribal", requests_per_hour: 1000, requests_per_day: null, limited_by: "key" },
  demo: { tier: "demo", requests_per_hour: 30, requests_per_day: 50, limited_by: "address" },
} as const;
const makeKey = (number: number, tier: keyof typeof limits = "individual"): ActiveKey => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
  key_sha256: number.toString(16).padStart(64, "0"),
  ...limits[tier],
});
const options: RenderOptions = {
  postgrestUrl: "http://127.0.0.1:3000",
  gatewayToken: await signGatewayToken("a secret that has enough characters"),
};
const keys = [makeKey(1), makeKey(2, "tribal"), makeKey(3, "demo")];
const rateLimits = (document: ReturnType<typeof renderDocument>) =>
  document.services.flatMap(({ plugins }) => plugins).filter(({ name }) => name === "rate-limiting");

describe("the document", () => {
  test("has a consumer for each key, and one plugin for all that have the shared limits", () => {
    const document = renderDocument(template, options, keys);
    expect(
      document.consumers.map(({ custom_id: id, keyauth_credentials: [credential] }) => [id, credential]),
    ).toEqual(keys.map(({ id, key_sha256: key }) => [id, { key }]));
    expect(document.consumers.map(({ plugins }) => plugins?.[0]?.config)).toEqual([
      undefined,
      undefined,
      expect.objectContaining({ hour: 30, day: 50, limit_by: "ip", policy: "local" }),
    ]);
    expect(rateLimits(document)).toHaveLength(1);
    loadConfig(document);
  });

  test("takes the shared limits from the tier, and leaves out the ones it does not have", () => {
    const key = { ...makeKey(1), requests_per_hour: null, requests_per_day: 7 };
    const [shared] = rateLimits(renderDocument(template, options, [key]));
    expect(shared?.config).toMatchObject({ day: 7, limit_by: "consumer" });
    expect(shared?.config).not.toHaveProperty("hour");
  });

  test("counts in Redis for all tiers when there is one, and serves on without it", () => {
    const document = renderDocument(
      template,
      { ...options, redis: { host: "counters", port: 6379, password: "the password" } },
      keys,
    );
    const redis = { host: "counters", port: 6379, timeout: 500, password: "the password" };
    const expected = { policy: "redis", redis, fault_tolerant: true };
    expect(rateLimits(document)[0]?.config).toMatchObject(expected);
    expect(document.consumers[2]?.plugins?.[0]?.config).toMatchObject(expected);
    loadConfig(document);
  });

  test("counts in the node where there is no Redis", () => {
    expect(rateLimits(renderDocument(template, options, keys))[0]?.config).toMatchObject({ policy: "local" });
  });

  test("sends the call that writes elsewhere when reads go to a replica, under the same plugins", () => {
    const whole = renderDocument(template, options, keys);
    const split = renderDocument(template, { ...options, postgrestCallsUrl: "http://127.0.0.1:3999" }, keys);
    expect(
      split.services.map(({ name, url, routes }) => [name, url, routes.map((route) => route.name)]),
    ).toEqual([
      ["postgrest", "http://127.0.0.1:3000", ["postgrest-read", "postgrest-write"]],
      ["postgrest-calls", "http://127.0.0.1:3999", ["postgrest-request-file-access"]],
    ]);
    expect(split.plugins).toEqual(whole.services[0]?.plugins);
    loadConfig(split);
  });

  test("is serialized in parts to the same JSON", () => {
    for (const count of [0, 1, 999, 1000, 1001, 2500]) {
      const document = renderDocument(
        template,
        options,
        Array.from({ length: count }, (_, index) => makeKey(index)),
      );
      expect(JSON.parse(serializeDocument(document).toString())).toEqual(document);
    }
  });

  test("refuses a variable that it does not know, and a template without limits", () => {
    expect(() => renderDocument(template.replaceAll("POSTGREST_URL}", "OTHER}"), options, keys)).toThrow(
      "unknown variable $" + "{OTHER}",
    );
    expect(() =>
      renderDocument(template.replace("name: rate-limiting", "name: correlation-id"), options, keys),
    ).toThrow("no service has the plugin rate-limiting");
  });

  test("is masked for people: no key hash, no token, no password", () => {
    const redis = { host: "counters", port: 6379, password: "the password" };
    const masked = JSON.stringify(maskDocument(renderDocument(template, { ...options, redis }, keys)));
    for (const { key_sha256: hash } of keys) expect(masked).not.toContain(hash);
    expect(masked).not.toContain(options.gatewayToken);
    expect(masked).not.toContain(options.gatewayToken.split(".")[2]);
    expect(masked).not.toContain("the password");
    expect(masked).toContain("Bearer <token>");
  });
});

test("gateway/kong.yml in git has no consumer and no secret", () => {
  const document = parse(template);
  expect(document).not.toHaveProperty("consumers");
  expect(template).not.toMatch(/[0-9a-f]{32}|eyJ|password:/);
});

describe("npm run gateway:render", () => {
  const run = async (args: string[], env: Record<string, string> = {}) => {
    const script = runScript("gateway-render.ts", args, env);
    return { code: await script.exited, output: script.output() };
  };

  test("--check accepts gateway/kong.yml", async () => {
    expect(await run(["--check"])).toEqual({ code: 0, output: "The configuration is valid, with 2 keys.\n" });
  });

  test("--check names what is wrong with a template", async () => {
    const { mkdtemp, rm, writeFile } = await import("node:fs/promises");
    const directory = await mkdtemp(path.join((await import("node:os")).tmpdir(), "render-"));
    try {
      const file = path.join(directory, "kong.yml");
      await writeFile(file, template.replace("name: key-auth", "name: kei-auth"));
      const { code, output } = await run(["--check", "--template", file]);
      expect(code).toBe(1);
      expect(output).toContain('services[0].plugins[2].name: plugin "kei-auth"');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("prints YAML of the deployment's keys without a hash or a token", async () => {
    const url = new URL(process.env.DATABASE_URL ?? "");
    url.searchParams.set("options", "-c role=gateway_sync");
    const { code, output } = await run([], {
      GATEWAY_SYNC_DATABASE_URL: url.href.replaceAll("+", "%20"),
      GATEWAY_ADMIN_URLS: "http://127.0.0.1:1",
      POSTGREST_URL: "http://127.0.0.1:3000",
      JWT_SECRET: "a secret that has enough characters",
    });
    expect(code).toBe(0);
    expect(parse(output).consumers.length).toBeGreaterThanOrEqual(3);
    expect(output).not.toMatch(/[0-9a-f]{64}|eyJ/);
  });
});

test.each(["gateway-sync.ts", "gateway-render.ts", "db-deploy.ts", "compose-secrets.ts"])(
  "%s explains itself",
  async (script) => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...["--import", "tsx", `scripts/${script}`, "--help"],
    ]);
    expect(stdout).toContain("Usage:");
  },
);
