import { execFileSync } from "node:child_process";

/** Whether a process runs. */
export const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

interface ListedProcess {
  pid: number;
  command: string;
}

/** Command lines of this machine that name a stack's directory. */
export const listProcesses = (directory: string): string[] =>
  execFileSync("ps", ["-e", "-o", "args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(directory));

/** The processes that a process has started. */
export function listChildren(parent: number): ListedProcess[] {
  return execFileSync("ps", ["-e", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null && Number(match[2]) === parent)
    .map((match) => ({ pid: Number(match?.[1]), command: match?.[3] ?? "" }));
}
