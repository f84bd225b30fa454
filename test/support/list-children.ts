import { readdirSync, readFileSync } from "node:fs";

/** The processes that a process has started, with their command lines. */
export function listChildren(parent: number): { pid: number; command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && readText(`/proc/${name}/status`).includes(`\nPPid:\t${parent}\n`))
    .map((name) => ({
      pid: Number(name),
      command: readText(`/proc/${name}/cmdline`).replaceAll("\0", " ").trim(),
    }));
}

/** Empty if the process has ended. */
function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
