import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { QueueRefused, queueFairly } from "../../../shared/web/queue-fairly.ts";

const stays = new AbortController().signal;

/** A queue whose tasks run until the test ends them. */
function startQueue(options: Partial<Parameters<typeof queueFairly>[0]> = {}) {
  const run = queueFairly({ atATime: 1, places: 100, seconds: 60, ...options });
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (name: string, address = name, left = stays) => {
    const task = () => {
      started.push(name);
      return new Promise<string>((resolve) => ends.push(() => resolve(name)));
    };
    return run(address, left, task).catch((error: Error) => error);
  };
  const endNext = async () => {
    ends.shift()?.();
    await sleep(1);
  };
  return { started, ask, endNext };
}

it("runs a few tasks at a time, and the others when it is their turn", async () => {
  const { started, ask, endNext } = startQueue({ atATime: 2 });
  const answers = ["a", "b", "c", "d"].map((name) => ask(name));
  await sleep(1);
  expect(started).toEqual(["a", "b"]);
  for (let count = 0; count < 4; count += 1) await endNext();
  expect(await Promise.all(answers)).toEqual(["a", "b", "c", "d"]);
});

it("goes on after a task that failed", async () => {
  const run = queueFairly({ atATime: 1, places: 1, seconds: 60 });
  const failed = run("a", stays, () => Promise.reject(new Error("failed")));
  const next = run("b", stays, async () => "b");
  await expect(failed).rejects.toThrow("failed");
  expect(await next).toBe("b");
});

it("lets networks take turns, however many requests each of them sends", async () => {
  const { started, ask, endNext } = startQueue();
  for (const host of [1, 2, 3, 4]) void ask("flood", `2001:db8:0:1::${host}`);
  void ask("other", "2001:db8:0:2::1");
  void ask("third", "192.0.2.1");
  void ask("other", "2001:db8:0:2::1");
  for (let count = 0; count < 7; count += 1) await endNext();
  expect(started).toEqual(["flood", "flood", "other", "third", "flood", "other", "flood"]);
});

it("when it is full, refuses the last request of the network with the most", async () => {
  const { started, ask, endNext } = startQueue({ places: 3 });
  const flood = [1, 2, 3, 4, 5].map((number) => ask(`flood ${number}`, "192.0.2.1"));
  expect(await flood[4]).toBeInstanceOf(QueueRefused);
  void ask("other", "192.0.2.2");
  expect(await flood[3]).toBeInstanceOf(QueueRefused);
  for (let count = 0; count < 4; count += 1) await endNext();
  expect(started).toEqual(["flood 1", "flood 2", "other", "flood 3"]);
});

it("gives the place of a client that leaves to others", async () => {
  const { started, ask, endNext } = startQueue({ places: 1 });
  void ask("first");
  const leaving = new AbortController();
  const left = ask("left", "left", leaving.signal);
  leaving.abort();
  expect(await left).toBeInstanceOf(QueueRefused);
  void ask("next");
  for (let count = 0; count < 2; count += 1) await endNext();
  expect(started).toEqual(["first", "next"]);
});

it("refuses a request that has waited too long", async () => {
  const { started, ask, endNext } = startQueue({ seconds: 0.02 });
  void ask("first");
  expect(await ask("late")).toBeInstanceOf(QueueRefused);
  await endNext();
  expect(started).toEqual(["first"]);
});
