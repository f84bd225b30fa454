import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { readWithRetries } from "../../../shared/objects/read-with-retries.ts";

const limits = { connect: 100, answer: 100, idle: 200, total: 60_000, tries: 3 };
const content = Buffer.from(Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join(""));

/** A file of which each try gives so many chunks, with pauses, and then stalls or fails. */
function open({ chunks, end, pause = 0 }: { chunks: number; end: "stall" | Error | "end"; pause?: number }) {
  const starts: number[] = [];
  async function* read(start: number) {
    for (let at = start; at < Math.min(content.length, start + chunks * 10); at += 10) {
      await sleep(pause);
      yield content.subarray(at, at + 10);
    }
    if (start + chunks * 10 >= content.length || end === "end") return;
    if (end === "stall") await new Promise(() => {});
    throw end;
  }
  const openAt = async (start: number) => {
    starts.push(start);
    return Readable.from(read(start));
  };
  return { starts, openAt, path: "s3://data/file", limits };
}
const readAll = async (stream: Readable) => Buffer.concat(await stream.toArray());

it.each(["stall", new Error("read ECONNRESET")] as const)(
  "continues at the byte where a try ended: %s",
  async (end) => {
    const file = open({ chunks: 15, end });
    expect((await readAll(await readWithRetries(file))).equals(content)).toBe(true);
    expect(file.starts).toEqual([0, 150, 300]);
  },
);

it("gives up after three tries, and names the file and the reason", async () => {
  const file = open({ chunks: 3, end: "stall" });
  const reading = readWithRetries(file).then(readAll);
  await expect(reading).rejects.toThrow("s3://data/file cannot be read to its end: nothing came for 0.2 s.");
  expect(file.starts).toEqual([0, 30, 60]);
});

it("gives up when all waits together take too long, however often a byte comes", async () => {
  const file = {
    ...open({ chunks: 99, end: "end", pause: 50 }),
    limits: { ...limits, idle: 10_000, total: 400 },
  };
  await expect(readWithRetries(file).then(readAll)).rejects.toThrow("cannot be read to its end");
  expect(file.starts).toEqual([0]);
});

it("does not count the time in which its reader reads nothing", async () => {
  const file = { ...open({ chunks: 99, end: "end" }), limits: { ...limits, idle: 10_000, total: 2_000 } };
  const stream = await readWithRetries(file);
  const read: Buffer[] = [];
  for await (const chunk of stream) {
    read.push(chunk);
    if (read.length === 20) await sleep(2_500);
  }
  expect(Buffer.concat(read).equals(content)).toBe(true);
  expect(file.starts).toEqual([0]);
});

it("ends at once when it is aborted", async () => {
  const stop = new AbortController();
  const file = {
    ...open({ chunks: 1, end: "stall" }),
    limits: { ...limits, idle: 3_600_000 },
    signal: stop.signal,
  };
  const reading = readWithRetries(file).then(readAll);
  setTimeout(() => stop.abort(new Error("Connection terminated")), 50);
  await expect(reading).rejects.toThrow("Connection terminated");
});
