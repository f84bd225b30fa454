import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, it } from "vitest";
import { checkPort, findFreePort } from "../../../scripts/servers/find-free-port.ts";

it("a free port is chosen once, and stays free for the server that it was chosen for", async () => {
  const port = await findFreePort();
  await expect(checkPort(port)).resolves.toBeUndefined();
  // What another process would meet that looks at the same port.
  const other = createSocket("udp4").bind({ port, address: "127.0.0.1", exclusive: true });
  const [error] = await once(other, "error");
  expect(error.code).toBe("EADDRINUSE");
});
