import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";

const memory = "/dev/shm/";
/** More than twice what the files of a run take at most. */
const neededBytes = 3e9;

/**
 * Has the tests keep their temporary files in memory, where there is room for them and nobody has chosen another place
 * (TMPDIR). Their servers make and remove files by the hundred thousand, which takes a fifth of a run on ext4.
 */
export default function setup(): void {
  if (process.env.TMPDIR || !hasRoom()) return;
  const directory = mkdtempSync(`${memory}single-audit-tests-`);
  // PostgreSQL's unprivileged user passes through.
  chmodSync(directory, 0o711);
  process.env.TMPDIR = directory;
  // When each project has stopped its servers; after Ctrl-C they are about to stop.
  process.once("exit", () => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
}

/** Whether it has the room, and programs may be run from there. */
function hasRoom(): boolean {
  const mounts = readFileSync("/proc/mounts", "utf8");
  if (!/^\S+ \/dev\/shm tmpfs (?!\S*\bnoexec\b)/m.test(mounts)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > neededBytes;
}
