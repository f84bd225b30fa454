import { Readable, Writable } from "node:stream";
import type { ProcessContext } from "../../shared/process-context.ts";

/** A finished program's exit code and output. */
export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  stdin?: string;
  env?: Record<string, string>;
}

/** A command's main function. It receives what it needs of `process` as a parameter. */
export type Program = (context: ProcessContext) => Promise<void>;

/** Runs a command's main function in this process, with its own streams and environment. */
export async function runHere(
  program: Program,
  args: string[],
  { stdin = "", env = {} }: RunOptions = {},
): Promise<Run> {
  const [stdout, stderr] = [collect(), collect()];
  const context: ProcessContext = {
    argv: ["node", "program", ...args],
    env,
    stdin: Readable.from([stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
  };
  await program(context);
  return { code: Number(context.exitCode ?? 0), stdout: stdout.text(), stderr: stderr.text() };
}

/** Returns a stream, and a function that returns the text written to it. */
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
