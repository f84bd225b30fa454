import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { preparePostgres } from "../../../scripts/servers/postgres.ts";
import { makeDirectory } from "../../support/make-directory.ts";

it("waits for a PostgreSQL that closes a connection without an answer, as it does if recovery fails", async () => {
  const server = createServer((socket) => socket.once("data", () => socket.end()));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const directory = await makeDirectory();
  const { program } = await preparePostgres({ directory, port, superuserPassword: "test" });
  expect(await program.isReady()).toBe(false);
});
