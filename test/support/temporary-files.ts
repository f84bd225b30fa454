import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, statfsSync } from "node:fs";
import type { Socket } from "node:net";
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
  removeAtEnd(directory);
}

/** Removes a directory when this process has ended, even if it was killed. Its servers may then still be stopping. */
function removeAtEnd(directory: string): void {
  const script = 'cat; while rm -rf "$0"; sleep 1; test -e "$0"; do :; done';
  // The pipe to its input closes when this process ends. In a session of its own, Ctrl-C does not reach it.
  const child = spawn("sh", ["-c", script, directory], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  (child.stdin as Socket).unref();
}

/** Whether /dev/shm has room, and programs may run from it. */
function hasRoom(): boolean {
  const mounts = readFileSync("/proc/mounts", "utf8");
  if (!/^\S+ \/dev\/shm tmpfs (?!\S*\bnoexec\b)/m.test(mounts)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > neededBytes;
}
