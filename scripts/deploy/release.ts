import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

/** A commit, as the history of deployments names it. */
export interface Commit {
  id: string;
  author: string;
  date: string;
  subject: string;
}

/** What a checkout or an image deploys. */
export interface Release {
  commit?: Commit;
  /** The newest commits that it contains: abbreviated, separated by spaces. */
  contains?: string;
  /** Why the files may differ from the commit, or why the commit or its history is unknown. */
  doubt?: string;
}

// 65 kB. Linux passes a build argument of at most 128 kB to a command.
const newestCommits = 5000;

/** Reads the release of a `db` directory: from the stamp beside it, which an image has, or else from Git. */
export async function readRelease(directory: string): Promise<Release> {
  const stamp = await readFile(path.join(directory, "../release.json"), "utf8").catch(() => undefined);
  if (stamp !== undefined)
    return stamp === ""
      ? { doubt: "the image was built without the build argument RELEASE" }
      : JSON.parse(stamp);
  const git = async (...args: string[]) =>
    (await promisify(execFile)("git", args, { cwd: directory })).stdout.trim();
  try {
    // Fails if the commit does not have the directory.
    await git("rev-parse", "HEAD:./");
    const [id = "", author = "", date = "", subject = ""] = (
      await git("log", "--max-count=1", "--no-show-signature", "--format=%H%n%an%n%cI%n%s")
    ).split("\n");
    const range = [`--max-count=${newestCommits}`, "--abbrev-commit", "--abbrev=12", "HEAD"];
    const contains = (await git("rev-list", ...range)).replaceAll("\n", " ");
    const release = { commit: { id, author, date, subject }, contains };
    if ((await git("status", "--porcelain", "--untracked-files=all", "--", ".")) !== "")
      return { ...release, doubt: "db has uncommitted changes" };
    if ((await git("rev-parse", "--is-shallow-repository")) === "true")
      return { ...release, doubt: "the clone is shallow" };
    return release;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    const reason = (stderr || message).trim().split("\n")[0];
    return { doubt: `Git does not know the commit of ${directory} (${reason})` };
  }
}
