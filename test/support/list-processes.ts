import { execFileSync } from "node:child_process";

/** Lists the processes of this machine, except zombies. */
export const listProcesses = () =>
  execFileSync("ps", ["-e", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => {
      const [, pid, parent, command = ""] = /^ *(\d+) +(\d+) +[^Z ]\S* +(.*)$/.exec(line) ?? [];
      return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
    });

/** Lists the children of a process. */
export const listChildren = (of: number) => listProcesses().filter(({ parent }) => parent === of);
