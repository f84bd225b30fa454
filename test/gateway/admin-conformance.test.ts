import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedGateway, startEmbeddedGateway } from "../../gateway/embedded/start-embedded-gateway.ts";
import { silent } from "./embedded/support.ts";

interface Case {
  id: string;
  method: string;
  path: string;
  /** A string is sent as it is. */
  body?: unknown;
  expect: { status: number; json?: unknown };
}

const folder = new URL("./kong-conformance/", import.meta.url);
const cases: Case[] = JSON.parse(await readFile(new URL("admin-cases.json", folder), "utf8"));
const token = "the token of this test";

/** The Admin API of a Kong with an empty database; without it the embedded gateway is tested. */
const kongUrl = process.env.GATEWAY_ADMIN_CONFORMANCE_URL;
let gateway: EmbeddedGateway | undefined;
let adminUrl: string;

beforeAll(async () => {
  gateway = kongUrl
    ? undefined
    : await startEmbeddedGateway({
        proxy: { host: "127.0.0.1", port: 0 },
        admin: { host: "127.0.0.1", port: 0, token },
        logger: silent,
      });
  adminUrl = kongUrl ?? gateway?.adminUrl ?? "";
});
afterAll(() => gateway?.close());

describe("the Admin API answers as that of real Kong 3.9.1 did", () => {
  test.for(cases)("$id", async ({ id, method, path, body, expect: expected }) => {
    const response = await fetch(adminUrl + path, {
      method,
      headers: {
        "kong-admin-token": token,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    expect([response.status, text === "" ? undefined : JSON.parse(text)]).toEqual([
      expected.status,
      id === "status" ? expect.objectContaining({ database: { reachable: true } }) : withTimes(expected.json),
    ]);
  });
});

/** Turns what varies into what it must look like. */
function withTimes(recorded: unknown): unknown {
  if (recorded === "<time>") return expect.any(Number);
  if (Array.isArray(recorded)) return recorded.map(withTimes);
  if (typeof recorded !== "object" || recorded === null) return recorded;
  return Object.fromEntries(Object.entries(recorded).map(([name, value]) => [name, withTimes(value)]));
}
