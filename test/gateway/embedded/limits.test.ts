import { describe, expect, test } from "vitest";
import { admin, documentFor, putPlugin, putService, send, startGateway, startUpstream } from "./support.ts";

describe("limits", () => {
  test("of a day hold when the hour's is not reached, and refused requests are not counted", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const gateway = await startGateway({ admin });
    await putService(gateway, upstream);
    await putPlugin(gateway, "rate-limiting", { day: 50, limit_by: "ip" });
    for (let n = 1; n <= 50; n++) {
      const { status, headers } = await send(gateway, "/");
      expect([status, headers["x-ratelimit-remaining-day"]]).toEqual([200, String(50 - n)]);
    }
    const over = await send(gateway, "/");
    expect(over.status).toBe(429);
    const left = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
    expect(Math.abs(Number(over.headers["retry-after"]) - left)).toBeLessThanOrEqual(2);
    // The hour's counter starts now; the day refuses, so the hour is never counted.
    await putPlugin(gateway, "rate-limiting", { hour: 50, day: 50, limit_by: "ip" });
    for (let n = 0; n < 3; n++) {
      const { status, headers } = await send(gateway, "/");
      expect([status, headers["x-ratelimit-remaining-day"]]).toEqual([429, "0"]);
      expect(headers["x-ratelimit-remaining-hour"]).toBe("50");
    }
  });

  test("never let more through when requests come at once", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const limit = { name: "rate-limiting", config: { day: 5, limit_by: "ip" } };
    const gateway = await startGateway({ document: documentFor(upstream, [limit]) });
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(gateway, "/")));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5);
  });

  test("by address are shared by all consumers with such a plugin, and replace the service's", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const byAddress = { name: "rate-limiting", config: { day: 3, limit_by: "ip" } };
    const gateway = await startGateway({
      document: {
        ...documentFor(upstream, [
          { name: "key-auth", config: { key_names: ["x-api-key"] } },
          { name: "rate-limiting", config: { day: 9 } },
        ]),
        consumers: [
          { username: "a", keyauth_credentials: [{ key: "a" }], plugins: [byAddress] },
          { username: "b", keyauth_credentials: [{ key: "b" }], plugins: [byAddress] },
          { username: "c", keyauth_credentials: [{ key: "c" }] },
        ],
      },
    });
    const remaining = [];
    for (const key of ["a", "b", "c", "a", "b"]) {
      const { status, headers } = await send(gateway, "/", { headers: { "x-api-key": key } });
      remaining.push(`${status} ${headers["x-ratelimit-remaining-day"]}`);
    }
    expect(remaining).toEqual(["200 2", "200 1", "200 8", "200 0", "429 0"]);
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
    const limit = { name: "rate-limiting", config: { day: 1, limit_by: "ip" } };
    const gateway = await startGateway({ document: documentFor(upstream, [limit]), trustedIps });
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
    const gateway = await startGateway({ document: documentFor(upstream) });
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
