import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningStack, runSeparateStack } from "../../support/run-stack.ts";
import { send } from "../../support/target.ts";

// Clients that open connections and say nothing, or not enough. A stack of its own, since they are many.

let stack: RunningStack;
const opened: Socket[] = [];

beforeAll(async () => {
  stack = await runSeparateStack();
});
afterAll(async () => {
  for (const socket of opened) socket.destroy();
  await stack?.dispose();
});

/** Opens a connection that says this and no more; resolves when the gateway closes it. */
function open(bytes: string): Promise<number> {
  const { hostname, port } = new URL(stack.facts.base_url);
  const started = performance.now();
  const socket = connect(Number(port), hostname, () => socket.write(bytes));
  socket.on("error", () => {});
  socket.resume();
  opened.push(socket);
  return once(socket, "close").then(() => performance.now() - started);
}

it("3,000 half-open requests are closed, and others are served meanwhile", async () => {
  const head = "GET /general HTTP/1.1\r\nHost: a\r\n";
  const halfOpen = Array.from({ length: 3000 }, () => open(head));
  const silent = [open(""), open("G")];
  const post = "POST /rpc/request_file_access HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  const key = `X-Api-Key: ${stack.facts.keys.tribal}\r\nContent-Profile: admin_api_v1_1_0\r\n`;
  const halfBody = open(`${post}${key}Content-Length: 100\r\n\r\n{`);
  const answer = await send(stack.facts.base_url, "/general?limit=1", {
    key: { value: stack.facts.keys.individual },
  });
  expect(answer.status).toBe(200);
  const times = await Promise.all([...halfOpen, ...silent, halfBody]);
  expect(Math.min(...times)).toBeGreaterThan(5_000);
  expect(Math.max(...times)).toBeLessThan(40_000);
});
