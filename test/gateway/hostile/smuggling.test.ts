import { describe, expect, test, vi } from "vitest";
import {
  configFor,
  keys,
  readKongYml,
  send,
  sendBytes,
  startEmbedded,
  startUpstream,
  useGateways,
} from "../gateways.ts";

// A client tries to smuggle a request between those of others (RFC 9112, 11.2). All requests share kept connections to one
// upstream. A witness sends a request right after each attempt, and must get its own answer.

useGateways();
const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
const length = `Content-Length: ${smuggled.length}`;

/** Header lines before the empty one, and what follows it. */
const attempts: Record<string, [head: string, body: string]> = {
  ...Object.fromEntries(
    "content-length Transfer-Encoding te trailer upgrade host connection expect"
      .split(" ")
      .flatMap((name) => [
        [`Connection: ${name}, with a length`, [`${length}\r\nConnection: ${name}`, smuggled]],
        [
          `Connection: ${name}, in chunks`,
          [`Transfer-Encoding: chunked\r\nConnection: keep-alive, ${name}`, chunked],
        ],
      ]),
  ),
  "two Connection lines": [`${length}\r\nConnection: close\r\nConnection: content-length`, smuggled],
  "an upgrade with a body": [`${length}\r\nConnection: upgrade\r\nUpgrade: h2c`, smuggled],
  "two lengths": [`Content-Length: 0\r\n${length}`, smuggled],
  "a list of lengths": [`Content-Length: 0, ${smuggled.length}`, smuggled],
  "a signed length": [`Content-Length: +${smuggled.length}`, smuggled],
  "a length and chunks": [`${length}\r\nTransfer-Encoding: chunked`, `0\r\n\r\n${smuggled}`],
  "chunked, identity": ["Transfer-Encoding: chunked, identity", chunked],
  "identity, chunked": ["Transfer-Encoding: identity, chunked", chunked],
  "an encoding that is none": ["Transfer-Encoding: xchunked", chunked],
  "two encodings": ["Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", chunked],
  "a space before the colon": ["Transfer-Encoding : chunked", chunked],
  "a folded line": ["Transfer-Encoding:\r\n chunked", chunked],
  "a folded length": [`X-A: 1\r\n Content-Length: 0\r\n${length}`, smuggled],
  "bare line feeds": [`X-A: 1\nContent-Length: ${smuggled.length}`, smuggled],
  "a bare carriage return": [`X-A: 1\rContent-Length: ${smuggled.length}`, smuggled],
  "a chunk size with an extension and a line feed": ["Transfer-Encoding: chunked", `2;a\nxx\r\n${chunked}`],
  "chunks that end early": ["Transfer-Encoding: chunked", `5\r\n${smuggled}`],
  "trailers that frame": [
    "Transfer-Encoding: chunked\r\nTrailer: Content-Length",
    `1\r\nx\r\n0\r\n${length}\r\n\r\n${smuggled}`,
  ],
  "a body that is announced and never comes": [`${length}\r\nConnection: keep-alive`, ""],
  "a pipelined request": ["X-A: 1", smuggled],
};

/** @param isProject with gateway/kong.yml, or else without plugins */
async function startWith(isProject: boolean) {
  const strangers: string[] = [];
  const upstream = await startUpstream(async (incoming, response) => {
    // The gateway sets this header on every request.
    if (incoming.headers["x-real-ip"] === undefined) strangers.push(`${incoming.method} ${incoming.url}`);
    incoming.resume();
    response.end(incoming.url);
  });
  const config = isProject ? await readKongYml({ "hour: 1000": "hour: 1000000" }) : configFor(upstream);
  return { url: (await startEmbedded(config, upstream)).url, strangers };
}

const keyLine = `X-Api-Key: ${keys.standard}`;

describe.each([
  ["without plugins", false],
  ["with gateway/kong.yml", true],
])("%s", (_, isProject) => {
  // Most of the time is spent waiting.
  test.concurrent.for(methods)(
    "a witness gets its own answers beside %s with any framing",
    async (method, { expect }) => {
      const { url, strangers } = await startWith(isProject);
      const wrong: string[] = [];
      for (const [name, [head, body]] of Object.entries(attempts)) {
        const bytes = `${method} /attack HTTP/1.1\r\nHost: a\r\n${keyLine}\r\n${head}\r\n\r\n${body}`;
        const attack = sendBytes(url, bytes, 60);
        for (const turn of [1, 2, 3]) {
          const path = `/witness_${turn}`;
          const answer = await send(url, path, { headers: { "x-api-key": keys.other } });
          if (answer.body !== path) wrong.push(`${name}: ${answer.status} ${answer.body}`);
          if (turn === 1) await attack;
        }
      }
      expect(wrong).toEqual([]);
      expect(strangers).toEqual([]);
    },
  );
});

test("a kept connection on which the upstream speaks unasked is closed, and no client reads what it said", async () => {
  let isClosed = false;
  const ports: (number | undefined)[] = [];
  const upstream = await startUpstream(({ socket, url }, response) => {
    response.end(url);
    if (ports.push(socket.remotePort) > 1) return;
    socket.once("close", () => {
      isClosed = true;
    });
    setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"), 30);
  });
  const { url } = await startEmbedded(configFor(upstream), "");
  const first = await send(url, "/1");
  await vi.waitUntil(() => isClosed, { timeout: 5000 });
  const rest = [await send(url, "/2"), await send(url, "/3")];
  expect([first, ...rest].map(({ body }) => body)).toEqual(["/1", "/2", "/3"]);
  expect(ports[1]).not.toBe(ports[0]);
  expect(ports[2]).toBe(ports[1]);
});
