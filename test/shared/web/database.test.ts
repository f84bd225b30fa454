import { Socket } from "node:net";
import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { createPool } from "../../../shared/web/database.ts";
import { findServerUrl } from "../../support/scratch-database.ts";

// As when PostgreSQL crashes. Without a listener, the client's error would end the process.
it("a connection that breaks while it is in use rejects its statement, and the process runs on", async () => {
  const pool = createPool({ connectionString: findServerUrl() }, pino({ level: "silent" }), "test", 1);
  onTestFinished(() => pool.end());
  const client = await pool.connect();
  const running = client.query("select pg_sleep(60)");
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  expect(stream).toBeInstanceOf(Socket);
  stream.destroy();
  await expect(running).rejects.toThrow("Connection terminated unexpectedly");
  client.release(true);
  expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});
