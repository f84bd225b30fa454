import { describe, expect, test } from "vitest";
import { readConfig } from "../../../gateway/embedded/read-config.ts";
import { readKongYml } from "../gateways.ts";
import { configFor } from "./support.ts";

const env = { POSTGREST_URL: "http://127.0.0.1:3000", GATEWAY_TOKEN: "a token" };
const upstream = "http://127.0.0.1:1";

describe("the configuration", () => {
  test("of the project is read as it is", async () => {
    const { routes, plugins } = await readConfig(await readKongYml(), env);
    expect(routes.map(({ name }) => name)).toEqual(["postgrest", "postgrest-demo"]);
    // In the order in which Kong runs them.
    const names = ["cors", "single-audit", "prometheus"];
    expect(plugins.map(({ name }) => name)).toEqual(names);
    expect(routes[1]?.plugins.map(({ name }) => name)).toContain("rate-limiting");
  });

  test.each([
    ["an unknown plugin", configFor(upstream, [{ name: "acl", config: {} }]), "plugins[0].name"],
    [
      "a field of a plugin",
      configFor(upstream, [], { plugins: [limit({ limit_by: "ip", path: "/" })] }),
      '"path"',
    ],
    [
      "a value of a plugin",
      configFor(upstream, [limit({ limit_by: "consumer" })]),
      "plugins[0].config.limit_by",
    ],
    [
      "counters elsewhere",
      configFor(upstream, [limit({ limit_by: "ip", policy: "redis" })]),
      "config.policy",
    ],
    ["a field of a service", configFor(upstream, [], { tls_verify: true }), '"tls_verify"'],
    ["an upstream with TLS", configFor("https://127.0.0.1:1"), "services[0].url"],
    [
      "a path other than /",
      configFor(upstream, [], { routes: [{ name: "a", paths: ["/a"] }] }),
      "routes[0].paths[0]",
    ],
    ["consumers", '{"_format_version": "3.0", "services": [], "consumers": []}', '"consumers"'],
  ])("that has %s is refused with its path, and says what to do", async (_, config, path) => {
    const refused = expect(readConfig(config, env)).rejects;
    await refused.toThrow(path);
    await refused.toThrow("run Kong for this");
  });

  test.each([
    ["longest_query: 32000", "longest_query: many", "longest_query: expected type integer"],
    ["longest_query: 32000", "longest_query: 0", "longest_query: expected more than 0"],
    ["longest_query: 32000", "shortest_query: 1", "longest_query: expected type integer"],
    [
      "      longest_query: 32000",
      "      longest_query: 32000\n      more: 1",
      "more: the schema has no such field",
    ],
  ])("of the plugin is checked by its schema (%s)", async (from, to, message) => {
    await expect(readConfig(await readKongYml({ [from]: to }), env)).rejects.toThrow(message);
  });

  test("names the variable of the environment that is missing", async () => {
    const kongYml = await readKongYml();
    await expect(readConfig(kongYml, { ...env, GATEWAY_TOKEN: "" })).rejects.toThrow(
      "GATEWAY_TOKEN is not set.",
    );
    await expect(readConfig(kongYml, { GATEWAY_TOKEN: "x" })).rejects.toThrow("POSTGREST_URL is not set.");
  });
});

function limit(config: object) {
  return { name: "rate-limiting", config: { day: 1, policy: "local", ...config } };
}
