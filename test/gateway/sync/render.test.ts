import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ActiveKey } from "../../../gateway/active-keys.ts";
import { createEntityStore } from "../../../gateway/embedded/entity-store.ts";
import {
  type BaseEntities,
  type RenderOptions,
  renderBase,
  renderKey,
} from "../../../gateway/render-entities.ts";
import { templateFile } from "../../../gateway/start-sync.ts";
import { programArguments } from "../../support/compile-programs.ts";
import { runScript } from "../../support/run-stack.ts";
import { target } from "../../support/target.ts";
import { adminToken, startNode } from "./support.ts";

const template = await readFile(templateFile, "utf8");
const limits = {
  individual: { tier: "individual", requests_per_hour: 1000, requests_per_day: null, limited_by: "key" },
  tribal: { tier: "tribal", requests_per_hour: 1000, requests_per_day: null, limited_by: "key" },
  demo: { tier: "demo", requests_per_hour: 30, requests_per_day: 50, limited_by: "address" },
} as const;
const makeKey = (number: number, tier: keyof typeof limits = "individual"): ActiveKey => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
  key_sha256: number.toString(16).padStart(64, "0"),
  limits: limits[tier],
  expiresAt: Number.POSITIVE_INFINITY,
});
const options: RenderOptions = { template, postgrestUrl: "http://127.0.0.1:3000" };
const keys = [makeKey(1), makeKey(2, "tribal"), makeKey(3, "demo")];
const rateLimits = ({ plugins }: BaseEntities) => plugins.filter(({ name }) => name === "rate-limiting");
/** Refuses what Kong would refuse. */
const putAll = (base: BaseEntities) => {
  const { put } = createEntityStore();
  for (const kind of ["services", "routes", "plugins"] as const) {
    for (const entity of base[kind]) put(kind, entity.id, entity);
  }
};

describe("what Kong is to have", () => {
  test("is a consumer and a credential for each key, and one plugin for all that have the shared limits", () => {
    const base = renderBase(options, limits.individual);
    const made = keys.map((key) => renderKey(base, key));
    expect(made.map(({ consumer, credential }) => [consumer.custom_id, credential.key])).toEqual(
      keys.map(({ id, key_sha256: key }) => [id, key]),
    );
    expect(made.map(({ plugin }) => plugin?.config)).toEqual([
      undefined,
      undefined,
      expect.objectContaining({ hour: 30, day: 50, limit_by: "ip", policy: "local" }),
    ]);
    expect(rateLimits(base)).toHaveLength(1);
    putAll(base);
  });

  test("has the same IDs always, and the sync's tag", () => {
    const base = renderBase(options, limits.individual);
    expect(renderBase(options, undefined)).toEqual(base);
    const entities = [...base.services, ...base.routes, ...base.plugins];
    expect(new Set(entities.map(({ id }) => id)).size).toBe(entities.length);
    for (const { tags } of entities) expect(tags[0]).toBe("single-audit");
  });

  test("takes the shared limits from the tier, and leaves out the ones it does not have", () => {
    const shared = { ...limits.individual, requests_per_hour: null, requests_per_day: 7 };
    const [plugin] = rateLimits(renderBase(options, shared));
    expect(plugin?.config).toMatchObject({ day: 7, limit_by: "consumer" });
    expect(plugin?.config).not.toHaveProperty("hour");
  });

  test("counts in Redis for all tiers when there is one, with a password that stands in Kong's environment alone", () => {
    const base = renderBase(
      { ...options, redis: { host: "counters", port: 6379, hasPassword: true } },
      limits.individual,
    );
    const redis = { host: "counters", port: 6379, timeout: 500, password: "{vault://env/redis-password}" };
    const expected = { policy: "redis", redis, fault_tolerant: true };
    expect(rateLimits(base)[0]?.config).toMatchObject(expected);
    expect(renderKey(base, makeKey(3, "demo")).plugin?.config).toMatchObject(expected);
    putAll(base);
  });

  test("counts in the node where there is no Redis", () => {
    expect(rateLimits(renderBase(options, undefined))[0]?.config).toMatchObject({ policy: "local" });
  });

  test("sends the call that writes elsewhere when reads go to a replica, under the same plugins", () => {
    const whole = renderBase(options, undefined);
    const split = renderBase({ ...options, postgrestCallsUrl: "http://127.0.0.1:3999" }, undefined);
    const routesOf = (id: string) =>
      split.routes.filter(({ service }) => (service as { id: string }).id === id).map(({ name }) => name);
    expect(split.services.map(({ name, url, id }) => [name, url, routesOf(id)])).toEqual([
      ["postgrest", "http://127.0.0.1:3000", ["postgrest-read", "postgrest-write"]],
      ["postgrest-calls", "http://127.0.0.1:3999", ["postgrest-request-file-access"]],
    ]);
    const global = split.plugins.filter((it) => it.service === undefined && it.route === undefined);
    expect(global.map(({ name, config }) => [name, config])).toEqual(
      whole.plugins.filter(({ service }) => service !== undefined).map(({ name, config }) => [name, config]),
    );
    putAll(split);
  });

  test("refuses a variable that it does not know, and a template without limits", () => {
    const other = template.replaceAll("POSTGREST_URL}", "OTHER}");
    expect(() => renderBase({ ...options, template: other }, undefined)).toThrow(
      "unknown variable $" + "{OTHER}",
    );
    const without = template.replace("name: rate-limiting", "name: correlation-id");
    expect(() => renderBase({ ...options, template: without }, undefined)).toThrow(
      "no service has the plugin rate-limiting",
    );
  });

  test("holds no token", () => {
    expect(JSON.stringify(renderBase(options, undefined))).not.toMatch(/eyJ|Bearer [^"\\]/);
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
    expect(await run(["--check"])).toEqual({ code: 0, output: "The configuration is valid.\n" });
  });

  test("--check names what is wrong with a template", async () => {
    const directory = await mkdtemp(path.join(tmpdir(), "render-"));
    try {
      const file = path.join(directory, "kong.yml");
      await writeFile(file, template.replace("name: key-auth", "name: kei-auth"));
      const { code, output } = await run(["--check", "--template", file]);
      expect(code).toBe(1);
      expect(output).toContain("plugin 'kei-auth' not enabled");
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("prints what the sync would change, and what is somebody else's, without a hash", async () => {
    const node = await startNode();
    try {
      const foreign = "77777777-7777-4777-8777-777777777777";
      await node.admin("PUT", `/consumers/${foreign}`, { username: "somebody-else" });
      await node.admin("PUT", `/consumers/${foreign}/key-auth/${foreign}`, { key: "0".repeat(64) });
      const url = new URL(target.databaseUrl);
      url.searchParams.set("options", "-c role=gateway_sync");
      const { code, output } = await run([], {
        GATEWAY_SYNC_DATABASE_URL: url.href.replaceAll("+", "%20"),
        GATEWAY_ADMIN_URLS: node.adminUrl,
        GATEWAY_ADMIN_TOKEN: adminToken,
        POSTGREST_URL: "http://127.0.0.1:3000",
      });
      expect(code, output).toBe(0);
      const shown = parse(output)[node.adminUrl];
      expect(shown.changes).toContain("create services postgrest");
      const written = shown.changes.filter((it: string) => it.startsWith("write consumers"));
      expect(written.length).toBeGreaterThanOrEqual(3);
      expect(shown.foreign).toEqual(["consumers somebody-else", `key-auths ${foreign}`]);
      expect(output).not.toMatch(/[0-9a-f]{64}|eyJ/);
      // It has changed nothing.
      expect((await node.admin("GET", "/services")).json.data).toEqual([]);
    } finally {
      await node.stop();
    }
  });
});

test.each(["gateway-sync.ts", "gateway-render.ts", "kong-database.ts", "db-deploy.ts", "compose-secrets.ts"])(
  "%s explains itself",
  async (script) => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...programArguments(`scripts/${script}`),
      "--help",
    ]);
    expect(stdout).toContain("Usage:");
  },
);
