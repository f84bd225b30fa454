import { setTimeout as sleep } from "node:timers/promises";
import { describeError } from "../../service/describe-error.ts";
import type { ChildProcess } from "../servers/child-process.ts";

/** Takes charge of a program as soon as it is started. */
export type Keep = (child: ChildProcess) => void;

export interface Supervision {
  report: (line: string) => void;
  /** Registers how to stop a part. */
  onStop: (stop: () => Promise<unknown>) => void;
  /** Ends the stack. */
  fail: (description: string) => void;
}

const stopGraceMilliseconds = 2000;
const attempts = 5;

/**
 * Starts a program of the stack, and restarts it when it ends by itself. If it cannot be restarted, the stack ends.
 *
 * @param start resolves when the program serves
 * @returns the result of the first start
 * @throws Error if the first start fails
 */
export async function supervise<Result>(
  { report, onStop, fail }: Supervision,
  name: string,
  start: (keep: Keep) => Promise<Result>,
): Promise<Result> {
  let child: ChildProcess | undefined;
  let isStopping = false;
  const keep: Keep = (started) => {
    child = started;
    if (isStopping) void started.stop(stopGraceMilliseconds);
  };
  onStop(async () => {
    isStopping = true;
    await child?.stop(stopGraceMilliseconds);
  });

  async function restart(ending: string): Promise<void> {
    report(`${ending.split("\n")[0]} Restarting it ...`);
    let failure = "";
    for (let attempt = 0; attempt < attempts && !isStopping; attempt += 1) {
      await sleep(attempt * 500);
      if (isStopping) return;
      failure = await start(keep).then(() => "", describeError);
      if (failure === "") return report(`${name} is back.`);
    }
    fail(`${name} cannot be restarted. ${failure}`);
  }

  const result = await start(keep);
  void (async () => {
    for (;;) {
      const ending = await child?.ended;
      if (isStopping || ending === undefined) return;
      await restart(ending);
    }
  })();
  return result;
}
