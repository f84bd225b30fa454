import type { Readable, Writable } from "node:stream";

/** The parts of `process` that a program uses. Tests pass their own. */
export interface ProcessContext {
  /** Like `process.argv`: the arguments start at the third element. */
  argv: string[];
  env: NodeJS.ProcessEnv;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  /** Set by the program. Unset means 0. */
  exitCode?: NodeJS.Process["exitCode"];
}
