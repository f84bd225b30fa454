import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";

const project = path.resolve(import.meta.dirname, "../..");

/** Reads the files that git tracks in these folders and whose names end in one of `endings`. */
export async function readRepository(
  folders: string[],
  endings: string[],
): Promise<{ file: string; text: string }[]> {
  const files = execFileSync("git", ["ls-files", ...folders], { cwd: project, encoding: "utf8" })
    .trim()
    .split("\n")
    // Git lists files whose deletion is not committed yet.
    .filter((file) => existsSync(path.join(project, file)));
  const read = async (file: string) => ({ file, text: await readFile(path.join(project, file), "utf8") });
  return Promise.all(files.filter((file) => endings.some((ending) => file.endsWith(ending))).map(read));
}
