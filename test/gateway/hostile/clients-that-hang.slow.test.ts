import { once } from "node:events";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { keys, readKongYml, send, startGateway, startUpstream, useGateways } from "../gateways.ts";

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
  expect(Math.min(...times)).toBeGreaterThan(5_000);
});
