import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { pino } from "pino";
import { expect, it, onTestFinished, vi } from "vitest";
import { createApp } from "../../../shared/web/create-app.ts";

// What a client gets, and what the log says, if a client sends broken or unfinished requests.

async function start() {
  const lines: { msg: string; level: number; err?: unknown }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const pool = new Pool();
  const { app } = createApp({ pool, checks: {}, logger });
  app.get("/slow", async () => {
    await sleep(200);
    return "the response";
  });
  app.addContentTypeParser("text/plain", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.post("/read", async ({ body }) => String(body));
  await app.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    await app.close();
    await pool.end();
  });
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return { socket, lines };
}

it("a request gets its whole response before bytes behind it are refused", async () => {
  const { socket } = await start();
  socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n");
  const answered = await text(socket);
  expect(answered.match(/HTTP\/1\.1 \d+|the response|The request is not valid HTTP/g)).toEqual([
    "HTTP/1.1 200",
    "the response",
    "HTTP/1.1 400",
    "The request is not valid HTTP",
  ]);
});

it("a client that leaves before it has sent its request is no error", async () => {
  const { socket, lines } = await start();
  socket.write(
    "POST /read HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nhalf",
  );
  await sleep(100);
  socket.destroy();
  const line = await vi.waitUntil(() => lines.find(({ msg }) => msg.startsWith("the client left")), {
    timeout: 30_000,
  });
  expect(line.level).toBe(30);
  expect(lines.filter(({ level }) => level > 30)).toEqual([]);
});
