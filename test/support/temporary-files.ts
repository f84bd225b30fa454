import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const memory = "/dev/shm";
const prefix = "single-audit-tests-";
/** More than twice the largest size of a run's temporary files. */
const neededBytes = 3e9;

/**
 * Creates the run's directory for temporary files, which all projects share, and removes it at the end. It is in memory
 * if TMPDIR is not set and there is room, because a run on ext4 spends a fifth of its time creating and deleting files.
 */
export default function setup(): void {
  if (path.basename(tmpdir()).startsWith(prefix)) return;
  const parent = !process.env.TMPDIR && hasRoom() ? memory : tmpdir();
  const directory = mkdtempSync(path.join(parent, prefix));
  // PostgreSQL's unprivileged user must be able to pass.
  chmodSync(directory, 0o711);
  process.env.TMPDIR = directory;
  // By then, each project has stopped its servers. After Ctrl-C they may still be stopping, so rmSync retries.
  process.once("exit", () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
}

/** Whether /dev/shm has room, and programs may run from it. */
function hasRoom(): boolean {
  const mounts = readFileSync("/proc/mounts", "utf8");
  if (!/^\S+ \/dev\/shm tmpfs (?!\S*\bnoexec\b)/m.test(mounts)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > neededBytes;
}
