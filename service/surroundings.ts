import type { Readable, Writable } from "node:stream";

/** What a program has of the process that runs it. The process itself is one. */
export interface Surroundings {
  /** As `process.argv`: the words of the command line from the third on. */
  argv: string[];
  env: NodeJS.ProcessEnv;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  /** Set by the program; none is 0. */
  exitCode?: NodeJS.Process["exitCode"];
}
