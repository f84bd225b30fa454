import { Readable, Writable } from "node:stream";
import type { Surroundings } from "../../service/surroundings.ts";

/** What a program has left behind. */
export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  stdin?: string;
  env?: Record<string, string>;
}

/** What a command of the project does, but for the process. */
export type Program = (around: Surroundings) => Promise<void>;

/** Runs a program of the project to its end in this process, on streams and an environment of its own. */
export async function runHere(
  program: Program,
  args: string[],
  { stdin = "", env = {} }: RunOptions = {},
): Promise<Run> {
  const [stdout, stderr] = [collect(), collect()];
  const around: Surroundings = {
    argv: ["node", "program", ...args],
    env,
    stdin: Readable.from([stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
  };
  await program(around);
  return { code: Number(around.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
}

/** A stream that keeps what is written to it. */
function collect() {
  let text = "";
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  return { stream, text: () => text };
}
