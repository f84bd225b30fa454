import { describe, expect, test } from "vitest";
import {
  configFor,
  keys,
  readKongYml,
  send,
  sendBytes,
  startEmbedded,
  startUpstream,
  unlimited,
  useGateways,
} from "../gateways.ts";

// A client tries to smuggle a request among those of other clients (RFC 9112, 11.2). All requests share keep-alive
// connections to one upstream. During and after each attempt, a witness sends requests and must get its own responses.

useGateways();
const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
const length = `Content-Length: ${smuggled.length}`;
const chunks = "Transfer-Encoding: chunked";
const named = "content-length Transfer-Encoding te trailer upgrade host connection expect".split(" ");

/** The header lines before the blank line, and the bytes after it. */
const attempts: [head: string, body: string][] = [
  ...named.map((name): [string, string] => [`${length}\r\nConnection: ${name}`, smuggled]),
  ...named.map((name): [string, string] => [`${chunks}\r\nConnection: keep-alive, ${name}`, chunked]),
  [`${length}\r\nConnection: close\r\nConnection: content-length`, smuggled],
  [`${length}\r\nConnection: upgrade\r\nUpgrade: h2c`, smuggled],
  [`Content-Length: 0\r\n${length}`, smuggled],
  [`Content-Length: 0, ${smuggled.length}`, smuggled],
  [`Content-Length: +${smuggled.length}`, smuggled],
  [`${length}\r\n${chunks}`, `0\r\n\r\n${smuggled}`],
  ["Transfer-Encoding: chunked, identity", chunked],
  ["Transfer-Encoding: identity, chunked", chunked],
  ["Transfer-Encoding: xchunked", chunked],
  [`${chunks}\r\nTransfer-Encoding: identity`, chunked],
  // A space before the colon, folded lines, a bare line feed and a bare carriage return.
  ["Transfer-Encoding : chunked", chunked],
  ["Transfer-Encoding:\r\n chunked", chunked],
  [`X-A: 1\r\n Content-Length: 0\r\n${length}`, smuggled],
  [`X-A: 1\n${length}`, smuggled],
  [`X-A: 1\r${length}`, smuggled],
  // A chunk size with an extension and a bare line feed, a chunk that ends early, and Content-Length in the trailers.
  [chunks, `2;a\nxx\r\n${chunked}`],
  [chunks, `5\r\n${smuggled}`],
  [`${chunks}\r\nTrailer: Content-Length`, `1\r\nx\r\n0\r\n${length}\r\n\r\n${smuggled}`],
  // A body that is announced but never sent, and a pipelined request.
  [`${length}\r\nConnection: keep-alive`, ""],
  ["X-A: 1", smuggled],
];

// The tests run concurrently, because they mostly wait.
describe.each(["without plugins", "with gateway/kong.yml"])("%s", (plugins) => {
  test.concurrent.for(methods)(
    "a witness gets its own responses during %s requests with any framing",
    async (method, { expect }) => {
      const wrong: string[] = [];
      const upstream = await startUpstream(async (incoming, response) => {
        // The gateway sets Host on every request, so a request with the client's was smuggled.
        if (incoming.headers.host === "a") wrong.push(`upstream: ${method} ${incoming.url}`);
        incoming.resume();
        response.end(incoming.url);
      });
      const kongYml = () => readKongYml(unlimited);
      const config = plugins === "without plugins" ? configFor(upstream) : await kongYml();
      const { url } = await startEmbedded(config, upstream);
      for (const [head, body] of attempts) {
        const start = `${method} /attack HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${keys.standard}\r\n`;
        const attack = sendBytes(url, `${start}${head}\r\n\r\n${body}`, 60);
        for (const turn of [1, 2, 3]) {
          const path = `/witness_${turn}`;
          const answer = await send(url, path, { headers: { "x-api-key": keys.other } });
          if (answer.body !== path) wrong.push(`${JSON.stringify(head)}: ${answer.status} ${answer.body}`);
          if (turn === 1) await attack;
        }
      }
      expect(wrong).toEqual([]);
    },
  );
});

test("a keep-alive connection is closed if the upstream sends unsolicited data, which reaches no client", async () => {
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
  await expect.poll(() => isClosed).toBe(true);
  const rest = [await send(url, "/2"), await send(url, "/3")];
  expect([first, ...rest].map(({ body }) => body)).toEqual(["/1", "/2", "/3"]);
  expect(ports[1]).not.toBe(ports[0]);
  expect(ports[2]).toBe(ports[1]);
});
