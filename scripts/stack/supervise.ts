import { describeError } from "../../service/describe-error.ts";
import { type ChildProcess, type Program, startProgram } from "../servers/run-program.ts";

export interface Supervision {
  report: (line: string) => void;
  /** Receives each line that a program logs. */
  log: (service: string, line: string) => void;
  /** Registers how to stop a part. */
  onStop: (stop: () => Promise<unknown>) => void;
  isStopping: () => boolean;
  /** Ends the stack. */
  fail: (description: string) => void;
}

/**
 * Starts a part of the stack, and restarts it when it ends by itself. If the restart fails, the stack ends.
 *
 * @param service its name in the log
 * @throws Error with its last lines if it does not start
 */
export async function supervise(
  { report, log, onStop, isStopping, fail }: Supervision,
  service: string,
  program: Program,
): Promise<void> {
  let child: ChildProcess | undefined;
  onStop(async () => child?.stop());
  const start = async () => {
    child = startProgram(program, (line) => log(service, line));
    if (isStopping()) void child.stop();
    await child.ready;
    child.ended
      .then(restart)
      .catch((error) => fail(`${program.name} cannot be restarted. ${describeError(error)}`));
  };
  const restart = async (ending: string) => {
    if (isStopping()) return;
    report(`${ending.split("\n")[0]} Restarting it ...`);
    await start();
    report(`${program.name} is back.`);
  };
  await start();
  report(`${program.name} is ready.`);
}
