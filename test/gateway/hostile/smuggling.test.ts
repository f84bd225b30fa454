import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, type onTestFinished, test, vi } from "vitest";
import { configFor, send, startGateway, startUpstream } from "../embedded/support.ts";
import { gatewayToken, readKongYml } from "../gateways.ts";
import { keys } from "../issued-keys.ts";

// A client that would put a request of its own between those of others (RFC 9112, 11.2). All go to one upstream by kept
// connections; a witness asks right after each attempt, and must get the answer to what it asked.

const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
const length = `Content-Length: ${smuggled.length}`;

/** Header lines before the empty one, and what follows it. */
const attempts: Record<string, [head: string, body: string]> = {
  ...Object.fromEntries(
    [
      "content-length",
      "Transfer-Encoding",
      "te",
      "trailer",
      "upgrade",
      "host",
      "connection",
      "expect",
    ].flatMap((name) => [
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

/** Sends bytes and reads until the gateway is done with them, or says nothing for `patience` milliseconds. */
async function sendBytes(url: string, bytes: string, patience = 60): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString("latin1");
    socket.setTimeout(60);
  });
  socket.on("error", () => {});
  const closed = once(socket, "close");
  socket.setTimeout(patience, () => socket.destroy());
  socket.write(bytes, "latin1");
  await closed;
  return answer;
}

/** @param isProject with gateway/kong.yml, or else without plugins */
async function startWith(isProject: boolean, onEnd?: typeof onTestFinished) {
  const strangers: string[] = [];
  const upstream = await startUpstream(async (incoming, response) => {
    // Each request that the gateway made has this.
    if (incoming.headers["x-real-ip"] === undefined) strangers.push(`${incoming.method} ${incoming.url}`);
    incoming.resume();
    response.end(incoming.url);
  }, onEnd);
  // Nobody is refused for asking often.
  const config = isProject ? await readKongYml({ "hour: 1000": "hour: 1000000" }) : configFor(upstream);
  const env = { POSTGREST_URL: upstream, GATEWAY_TOKEN: gatewayToken };
  const gateway = await startGateway({ config, env }, onEnd);
  return { gateway, strangers };
}

/** What requests carry that the gateway is to forward. */
const keyLine = `X-Api-Key: ${keys.standard}`;

describe.each([
  ["without plugins", false],
  ["with gateway/kong.yml", true],
])("%s", (_, isProject) => {
  // Most of it is waiting for a gateway that says nothing more.
  test.concurrent.for(methods)(
    "a witness gets its own answers beside %s with any framing",
    async (method, { expect, onTestFinished }) => {
      const { gateway, strangers } = await startWith(isProject, onTestFinished);
      const wrong: string[] = [];
      for (const [name, [head, body]] of Object.entries(attempts)) {
        const bytes = `${method} /attack HTTP/1.1\r\nHost: a\r\n${keyLine}\r\n${head}\r\n\r\n${body}`;
        const attack = sendBytes(gateway.url, bytes);
        for (const turn of [1, 2, 3]) {
          const path = `/witness_${turn}`;
          const answer = await send(gateway, path, { headers: { "x-api-key": keys.other } });
          if (answer.body.toString() !== path) wrong.push(`${name}: ${answer.status} ${answer.body}`);
          if (turn === 1) await attack;
        }
      }
      expect(wrong).toEqual([]);
      expect(strangers).toEqual([]);
    },
  );
});

test("GET, HEAD and OPTIONS with a body are refused by gateway/kong.yml, whatever Connection says", async () => {
  const { gateway } = await startWith(true);
  for (const method of ["GET", "HEAD", "OPTIONS"]) {
    for (const head of [length, `${length}\r\nConnection: content-length`, "Transfer-Encoding: chunked"]) {
      const body = head.startsWith("T") ? chunked : smuggled;
      const answer = await sendBytes(
        gateway.url,
        `${method} /general HTTP/1.1\r\nHost: a\r\n${keyLine}\r\n${head}\r\n\r\n${body}`,
        10_000,
      );
      expect(answer.match(/HTTP\/1\.1 \d+/g), `${method} ${head}`).toEqual(["HTTP/1.1 400"]);
    }
    const empty = await sendBytes(
      gateway.url,
      `${method} /general HTTP/1.1\r\nHost: a\r\n${keyLine}\r\nContent-Length: 0\r\n\r\n`,
      10_000,
    );
    expect(empty).toMatch(/^HTTP\/1\.1 200/);
  }
});

test("an upstream's connection that speaks unasked is closed, and nobody reads what it said", async () => {
  let spoke = false;
  let isClosed = false;
  const ports: (number | undefined)[] = [];
  const upstream = await startUpstream((incoming, response) => {
    const { socket } = incoming;
    ports.push(socket.remotePort);
    response.end(incoming.url);
    if (spoke) return;
    spoke = true;
    socket.once("close", () => {
      isClosed = true;
    });
    setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"), 30);
  });
  const gateway = await startGateway({ config: configFor(upstream) });
  const first = await send(gateway, "/1");
  await vi.waitUntil(() => isClosed, { timeout: 5000 });
  const rest = [await send(gateway, "/2"), await send(gateway, "/3")];
  expect([first, ...rest].map(({ body }) => body.toString())).toEqual(["/1", "/2", "/3"]);
  expect(ports[1]).not.toBe(ports[0]);
  expect(ports[2]).toBe(ports[1]);
});
