import { setTimeout as sleep } from "node:timers/promises";
import { describeError } from "../../service/describe-error.ts";
import type { ChildProcess } from "../servers/child-process.ts";

/** Takes charge of a program at once. */
export type Keep = (child: ChildProcess) => void;

export interface Supervision {
  report: (line: string) => void;
  /** Is told how a part that was started is stopped. */
  onStop: (stop: () => Promise<unknown>) => void;
  /** Ends the stack. */
  fail: (description: string) => void;
}

const stopGraceMilliseconds = 2000;
/** Before each new start in a row; after the last the stack is given up. */
const pausesMilliseconds = [0, 250, 500, 1000, 2000];
/** A program that has run for so long begins a new row. */
const steadyMilliseconds = 60_000;

/**
 * Starts a program of the stack, and starts it again whenever it has ended by itself: at once, then after growing pauses.
 * A program that ends six times without running for a minute in between ends the stack.
 *
 * @param start resolves when the program serves
 * @returns what the first start gave; a program that cannot be started at first rejects
 */
export async function supervise<Result>(
  { report, onStop, fail }: Supervision,
  name: string,
  start: (keep: Keep) => Promise<Result>,
): Promise<Result> {
  let child: ChildProcess | undefined;
  let starting: Promise<unknown> = Promise.resolve();
  let isStopping = false;
  const keep: Keep = (started) => {
    child = started;
    if (isStopping) void started.stop(stopGraceMilliseconds);
  };
  onStop(async () => {
    isStopping = true;
    await child?.stop(stopGraceMilliseconds);
    await starting;
  });

  async function keepRunning(): Promise<void> {
    let startedAt = performance.now();
    let deaths = 0;
    let ending = await child?.ended;
    while (!isStopping) {
      deaths = performance.now() - startedAt < steadyMilliseconds ? deaths + 1 : 1;
      const pause = pausesMilliseconds[deaths - 1];
      if (pause === undefined) {
        return fail(`${name} has ended ${deaths} times in a row. The last time:\n${ending}`);
      }
      report(`${String(ending).split("\n")[0]} It is started again.`);
      await sleep(pause);
      if (isStopping) return;
      startedAt = performance.now();
      const failure = start(keep).then(() => undefined, describeError);
      starting = failure;
      ending = await failure;
      if (ending === undefined) {
        report(`${name} is back.`);
        ending = await child?.ended;
      }
    }
  }

  if (isStopping) throw new Error("The stack is being stopped.");
  const result = await start(keep);
  void keepRunning();
  return result;
}
