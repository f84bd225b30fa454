import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  configFor,
  createSignal,
  open,
  openRequest,
  readAll,
  send,
  startGateway,
  startUpstream,
} from "./support.ts";

describe("bodies", () => {
  test("of responses arrive as they are sent", async () => {
    let finish = () => {};
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("first");
      finish = () => response.end("last");
    });
    const gateway = await startGateway({ config: configFor(upstream) });
    const [, response] = await open(gateway, "/");
    const [first] = await once(response, "data");
    expect(first.toString()).toBe("first");
    finish();
    const [last] = await once(response, "data");
    expect(last.toString()).toBe("last");
  });

  test("of requests are whole before the upstream is asked, so that nobody holds it up", async () => {
    let asked = 0;
    const upstream = await startUpstream(async (incoming, response) => {
      asked += 1;
      response.end(String((await readAll(incoming)).length));
    });
    const gateway = await startGateway({ config: configFor(upstream) });
    const size = 2 ** 14;
    const client = openRequest(gateway, "/", { method: "POST", headers: { "content-length": size } });
    client.write(Buffer.alloc(size - 1));
    await setTimeout(100);
    expect(asked).toBe(0);
    client.end("x");
    const [response] = (await once(client, "response")) as [IncomingMessage];
    expect((await readAll(response)).toString()).toBe(String(size));
  });

  test("are cancelled upstream when the client goes away, before and after the first byte", async () => {
    for (const answersFirst of [false, true]) {
      const arrived = createSignal();
      const cancelled = createSignal();
      const upstream = await startUpstream((incoming, response) => {
        if (answersFirst) response.write("first");
        incoming.socket.once("close", () => cancelled.resolve());
        arrived.resolve();
      });
      const gateway = await startGateway({ config: configFor(upstream) });
      const client = openRequest(gateway, "/");
      client.on("error", () => {});
      client.end();
      if (answersFirst) await once((await once(client, "response"))[0], "data");
      await arrived.promise;
      client.destroy();
      await cancelled.promise;
    }
  });

  test("that the upstream breaks off are broken off for the client too", async () => {
    const upstream = await startUpstream((incoming, response) => {
      response.writeHead(200, { "content-type": "application/json" }).write("[1,");
      void setTimeout(20).then(() => incoming.socket.destroy());
    });
    const gateway = await startGateway({ config: configFor(upstream) });
    await expect(send(gateway, "/")).rejects.toThrow("aborted");
  });

  test("over the limit get 413, with or without a stated length", async () => {
    const upstream = await startUpstream(async (incoming, response) => {
      response.end(String((await readAll(incoming)).length));
    });
    const gateway = await startGateway({ config: configFor(upstream) });
    const most = 16_384;
    for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
      const exact = await send(gateway, "/", { method: "POST", headers }, "x".repeat(most));
      expect([exact.status, exact.body.toString()]).toEqual([200, String(most)]);
      const over = await send(gateway, "/", { method: "POST", headers }, "x".repeat(most + 1));
      expect(over.status).toBe(413);
    }
  });

  test("are compressed as nginx does it, for clients that take gzip", async () => {
    const rows = JSON.stringify(Array.from({ length: 1000 }, (_, n) => ({ n })));
    const upstream = await startUpstream((incoming, response) => {
      const type = incoming.url?.slice(1).replace("-", "/") || "application/json";
      response.writeHead(incoming.url === "/206" ? 206 : 200, {
        "content-type": `${type}; charset=utf-8`,
        "content-length": rows.length,
        etag: '"strong"',
      });
      response.end(rows);
    });
    const options = { headers: { "accept-encoding": "br, gzip;q=0.8" } };
    const gateway = await startGateway({ config: configFor(upstream) });
    for (const path of ["/application-json", "/text-csv"]) {
      const { headers, body } = await send(gateway, path, options);
      expect(headers).toMatchObject({
        "content-encoding": "gzip",
        etag: 'W/"strong"',
        vary: "Accept-Encoding",
      });
      expect(headers["content-length"]).toBeUndefined();
      expect(gunzipSync(body).toString()).toBe(rows);
    }
    for (const [path, accept] of [
      ["/text-plain", "gzip"],
      ["/206", "gzip"],
      ["/text-csv", "gzip;q=0"],
      ["/text-csv", "*"],
    ] as const) {
      const { headers, body } = await send(gateway, path, { headers: { "accept-encoding": accept } });
      expect([headers["content-encoding"], headers.etag, body.toString()]).toEqual([
        undefined,
        '"strong"',
        rows,
      ]);
    }
  });
});
