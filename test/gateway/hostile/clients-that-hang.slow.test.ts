import { once } from "node:events";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import {
  keys,
  kongProgram,
  readKongYml,
  send,
  startGateway,
  startRealKong,
  startUpstream,
  useGateways,
} from "../gateways.ts";

useGateways();

it("3,000 incomplete requests are closed, but not at once, and other clients are served meanwhile", async () => {
  const upstream = await startUpstream((_, response) => response.end("ok"));
  const { url } = await startGateway(await readKongYml(), upstream);
  /** Opens a connection and sends only these bytes. Resolves to the milliseconds until the gateway closes it. */
  const open = async (bytes: string) => {
    const started = performance.now();
    const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(bytes));
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}).resume();
    await once(socket, "close");
    return performance.now() - started;
  };
  const head = `Host: a\r\nX-Api-Key: ${keys.standard}\r\n`;
  const halfOpen = Array.from({ length: 3000 }, () => open(`GET /general HTTP/1.1\r\n${head}`));
  const halfBody = open(`POST /rpc/request_file_access HTTP/1.1\r\n${head}Content-Length: 100\r\n\r\n{`);
  const answer = await send(url, "/general", { headers: { "x-api-key": keys.standard } });
  expect([answer.status, answer.body]).toEqual([200, "ok"]);
  const times = await Promise.all([...halfOpen, open(""), open("G"), halfBody]);
  expect(Math.min(...times)).toBeGreaterThan(3_000);
});

// The embedded gateway ends all connections after 2 s.
it.skipIf(kongProgram === undefined)(
  "a gateway stops within 10 s although clients send no request, or keep sending one that was refused",
  { timeout: 60_000 },
  async () => {
    const upstream = await startUpstream((_, response) => response.end("ok"));
    const { port, quit } = await startRealKong(await readKongYml(), upstream);
    const refused = "PUT /general HTTP/1.1\r\nHost: a\r\nContent-Length: 15000\r\n\r\n";
    for (const bytes of ["", "G", refused]) {
      const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
      socket.on("error", () => {}).resume();
      const trickle = setInterval(() => bytes === refused && socket.write("a"), 500);
      onTestFinished(() => {
        clearInterval(trickle);
        socket.destroy();
      });
    }
    await send(`http://127.0.0.1:${port}`, "/general", { headers: { "x-api-key": keys.standard } });
    const started = performance.now();
    await quit();
    expect(performance.now() - started).toBeLessThan(10_000);
  },
);
