import { describe, expect, test } from "vitest";
import { configFor, send, startGateway, startUpstream } from "./support.ts";

const limit = (config: object) => ({
  name: "rate-limiting",
  config: { policy: "local", limit_by: "ip", ...config },
});

describe("limits", () => {
  test("of a day hold when the hour's is not reached, and refused requests are not counted", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const gateway = await startGateway({ config: configFor(upstream, [limit({ hour: 7, day: 5 })]) });
    for (let n = 1; n <= 5; n++) {
      const { status, headers } = await send(gateway, "/");
      expect([status, headers["x-ratelimit-remaining-day"]]).toEqual([200, String(5 - n)]);
    }
    for (let n = 0; n < 3; n++) {
      const { status, headers } = await send(gateway, "/");
      expect([status, headers["x-ratelimit-remaining-day"]]).toEqual([429, "0"]);
      expect(headers["x-ratelimit-remaining-hour"]).toBe("2");
      const left = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
      expect(Math.abs(Number(headers["retry-after"]) - left)).toBeLessThanOrEqual(2);
    }
  });

  test("never let more through when requests come at once", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const gateway = await startGateway({ config: configFor(upstream, [limit({ day: 5 })]) });
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(gateway, "/")));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5);
  });

  test("by a header count each value apart, and those without it by address", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const byHeader = limit({ day: 2, limit_by: "header", header_name: "X-Who" });
    const gateway = await startGateway({ config: configFor(upstream, [byHeader]) });
    const remaining = [];
    for (const who of ["a", "b", "a", undefined, "a", undefined]) {
      const { status, headers } = await send(gateway, "/", { headers: who ? { "x-who": who } : {} });
      remaining.push(`${status} ${headers["x-ratelimit-remaining-day"]}`);
    }
    expect(remaining).toEqual(["200 1", "200 1", "200 0", "200 1", "429 0", "200 0"]);
  });

  test("of a route replace those of its service, and count apart", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const routes = [
      { name: "all", paths: ["/"] },
      { name: "slow", paths: ["/"], headers: { "X-Tier": ["slow"] }, plugins: [limit({ day: 1 })] },
    ];
    const config = configFor(upstream, [], { routes, plugins: [limit({ day: 9 })] });
    const gateway = await startGateway({ config });
    const remaining = [];
    for (const tier of ["slow", "other", "slow", "other"]) {
      const { status, headers } = await send(gateway, "/", { headers: { "x-tier": tier } });
      remaining.push(`${status} ${headers["x-ratelimit-remaining-day"]}`);
    }
    expect(remaining).toEqual(["200 0", "200 8", "429 0", "200 7"]);
  });
});

describe("hops", () => {
  const forged = {
    "x-forwarded-for": "9.9.9.9, 10.0.0.7",
    "x-forwarded-proto": "https",
    "x-real-ip": "8.8.8.8",
  };

  test.for([
    { name: "not trusted change nothing", trustedIps: [], client: "127.0.0.1", proto: "http" },
    { name: "trusted name the client", trustedIps: ["127.0.0.0/8"], client: "10.0.0.7", proto: "https" },
    {
      name: "trusted one after the other lead to the first that is not",
      trustedIps: ["127.0.0.1", "10.0.0.0/8"],
      client: "9.9.9.9",
      proto: "https",
    },
  ])("that are $name", async ({ trustedIps, client, proto }) => {
    const upstream = await startUpstream((incoming, response) =>
      response.end(JSON.stringify(incoming.headers)),
    );
    const gateway = await startGateway({ config: configFor(upstream, [limit({ day: 1 })]), trustedIps });
    const { body } = await send(gateway, "/", { headers: forged });
    expect(JSON.parse(body.toString())).toMatchObject({
      "x-forwarded-for": "9.9.9.9, 10.0.0.7, 127.0.0.1",
      "x-forwarded-proto": proto,
      "x-real-ip": client,
    });
    // Another forged address gets a limit of its own only through a trusted hop.
    const second = await send(gateway, "/", { headers: { "x-forwarded-for": "9.9.9.1" } });
    expect(second.status).toBe(trustedIps.length === 0 ? 429 : 200);
  });

  test("headers of one hop are not passed on, and those sent twice arrive twice", async () => {
    const upstream = await startUpstream((incoming, response) => {
      response.writeHead(200, [
        "Set-Cookie",
        "a=1",
        "Set-Cookie",
        "b=2",
        "Connection",
        "x-one",
        "X-One",
        "1",
      ]);
      response.end(JSON.stringify(incoming.rawHeaders));
    });
    const gateway = await startGateway({ config: configFor(upstream) });
    const { headers, body } = await send(gateway, "/", {
      headers: {
        prefer: ["count=exact", "max-affected=1"],
        connection: "x-two",
        "x-two": "2",
        te: "trailers",
      },
    });
    const raw: string[] = JSON.parse(body.toString());
    expect(raw.filter((_, i) => raw[i - 1] === "prefer")).toEqual(["count=exact", "max-affected=1"]);
    expect(raw.map((it) => it.toLowerCase())).not.toContain("x-two");
    expect(headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(headers["x-one"]).toBeUndefined();
  });
});
