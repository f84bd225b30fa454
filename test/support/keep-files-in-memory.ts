import { existsSync, rmSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, statfs } from "node:fs/promises";
import path from "node:path";

const memory = "/dev/shm";
/** More than twice what the files of a run take at most. */
const neededBytes = 3e9;

/**
 * Has the tests keep their temporary files in memory, where there is room for them and nobody has chosen another place
 * (TMPDIR). Their servers make and remove files by the hundred thousand, and ext4 looks, for each one that is made, through
 * those that were removed in the last seconds: a twentieth of a run.
 */
export default async function setup(): Promise<void> {
  if (process.env.TMPDIR || !(await isFit())) return;
  await removeLeftovers();
  const directory = await mkdtemp(path.join(memory, `single-audit-tests-${process.pid}-`));
  // PostgreSQL's unprivileged user passes through.
  await chmod(directory, 0o711);
  process.env.TMPDIR = directory;
  // When each project has stopped its servers; after Ctrl-C they are about to stop.
  process.once("exit", () => {
    try {
      rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    } catch {
      // The next run removes it.
    }
  });
}

/** Whether it has the room, and programs may be run from there. */
async function isFit(): Promise<boolean> {
  const mounts = await readFile("/proc/mounts", "utf8").catch(() => "");
  if (!/^\S+ \/dev\/shm tmpfs (?!\S*\bnoexec\b)/m.test(mounts)) return false;
  const { bavail, bsize } = await statfs(memory);
  return bavail * bsize > neededBytes;
}

/** What a run that was killed has left would stay in memory. What somebody else's has left is theirs to remove. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(memory)) {
    const [, pid] = /^single-audit-tests-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    await rm(path.join(memory, name), { recursive: true, force: true }).catch(() => undefined);
  }
}
