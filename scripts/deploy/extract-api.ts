import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { $ } from "zx";

/**
 * Takes `api` and `contracts` of `db` as a commit has them, and gives their directory to `work`, then removes it.
 *
 * @param directory `db` in a git working tree
 * @throws Error when there is no such commit
 */
export async function withApiOf<Result>(
  directory: string,
  commit: string,
  work: (apiDirectory: string) => Promise<Result>,
): Promise<Result> {
  const target = await mkdtemp(path.join(tmpdir(), "single-audit-api-"));
  try {
    const archive = path.join(target, "api.tar");
    await $({ cwd: directory, quiet: true })`git archive --output=${archive} ${commit} api contracts`.catch(
      (cause) => {
        throw new Error(`git has no API of ${JSON.stringify(commit)}: ${cause.stderr?.trim()}`, { cause });
      },
    );
    await $({ quiet: true })`tar -xf ${archive} -C ${target}`;
    return await work(target);
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}
