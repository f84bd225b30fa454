import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Whether a process runs. One that has ended and that nobody has asked how has no command line. */
export const isRunning = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
};

/** Command lines of this machine that name a stack's directory. */
export const listProcesses = (directory: string): string[] =>
  execFileSync("ps", ["-e", "-o", "args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(directory));
