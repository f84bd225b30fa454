import { execFileSync } from "node:child_process";

/** The processes of this machine, except those that have ended and whose parent has not asked how. */
export const listProcesses = () =>
  execFileSync("ps", ["-e", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => {
      const [, pid, parent, command = ""] = /^ *(\d+) +(\d+) +[^Z ]\S* +(.*)$/.exec(line) ?? [];
      return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
    });

/** The processes that a process has started. */
export const listChildren = (of: number) => listProcesses().filter(({ parent }) => parent === of);
