import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { Storage, StoredFile } from "./storage.ts";

export function openDirectory(location: string): Storage {
  const root = path.resolve(location);
  const at = (key: string) => path.join(root, key);
  const makeFolder = (key: string) => mkdir(path.dirname(at(key)), { recursive: true });
  return {
    check: () => access(root),
    listFiles: async () => {
      const names = await readdir(root).catch(describeReadError(root));
      return await Promise.all(
        names
          .sort()
          .filter((name) => /\.csv(\.gz)?$/.test(name))
          .map((name) => describeFile(at(name))),
      );
    },
    listFolders: async () => {
      const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
        .map(({ name }) => name);
    },
    removeFolder: (name) => rm(at(name), { recursive: true, force: true }),
    makeWorkDirectory: async () => {
      await mkdir(root, { recursive: true });
      // The manifest is replaced last, when the data set is already live.
      const manifest = await stat(at("manifest.json")).catch(() => undefined);
      if (manifest?.isFile() === false) throw new Error(`${at("manifest.json")} is not a file. Remove it.`);
      // Files that a killed run left behind.
      for (const name of await readdir(root))
        if (name.startsWith(".part-")) await rm(at(name), { recursive: true, force: true });
      return await mkdtemp(at(".part-"));
    },
    putFile: async (key, file) => {
      await makeFolder(key);
      await rename(file, at(key));
    },
    put: async (key, content) => {
      await makeFolder(key);
      await writeFile(at(`${key}.part`), content);
      await rename(at(`${key}.part`), at(key));
    },
    readText: async (key) => {
      if ((await stat(at(key)).catch(() => undefined)) === undefined) return undefined;
      return await readFile(at(key), "utf8").catch(describeReadError(at(key)));
    },
  };
}

async function describeFile(file: string): Promise<StoredFile> {
  const found = await stat(file);
  if (!found.isFile()) throw new Error(`${file} is not a file. Rename or remove it.`);
  return {
    path: file,
    size: found.size,
    open: async () => createReadStream(file, { highWaterMark: Math.min(1 << 18, found.size + 1) }),
    identify: () => hashFile(file),
    checkUnchanged: async () => {
      const { size, mtimeMs } = await stat(file);
      if (size === found.size && mtimeMs === found.mtimeMs) return;
      throw new Error(
        `${file} changed while it was read: it had ${found.size} bytes and has ${size} now. Nothing was published. Wait until the file is complete, then run the refresh again.`,
      );
    },
  };
}

const describeReadError = (name: string) => (cause: NodeJS.ErrnoException) => {
  throw new Error(`${name} cannot be read: ${cause.code}.`, { cause });
};

/** The SHA-256 of a file's bytes, in hexadecimal. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 18 }), hash);
  return hash.digest("hex");
}
