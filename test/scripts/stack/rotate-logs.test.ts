import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { rotateLogs } from "../../../scripts/stack/rotate-logs.ts";

it("a log that has grown is moved away, and its writer goes on", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "rotate-logs-"));
  const log = path.join(directory, "stack.log");
  const logger = pino(pino.destination({ dest: log, sync: true }));
  const rotation = rotateLogs([log, path.join(directory, "none.log")], 1000, 20);
  try {
    logger.info("early");
    logger.info("x".repeat(1000));
    await vi.waitUntil(async () => (await readFile(log, "utf8")) === "");
    expect(await readFile(`${log}.1`, "utf8")).toContain("early");
    logger.info("late");
    expect(JSON.parse(await readFile(log, "utf8"))).toMatchObject({ msg: "late" });
  } finally {
    await rotation.stop();
    await rm(directory, { recursive: true });
  }
});
