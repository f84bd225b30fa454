import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import {
  access,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Objects, Range, StoredFile } from "./objects.ts";
import { describeReason } from "./read-with-retries.ts";

export function openDirectory(location: string): Objects {
  const root = path.resolve(location);
  const at = (key: string) => path.join(root, key);
  const makeFolder = (key: string) =>
    mkdir(path.dirname(at(key)), { recursive: true }).catch(refuse("written", at(key)));
  const move = async (key: string, file: string) => {
    await makeFolder(key);
    await rename(file, at(key)).catch(refuse("written", at(key)));
  };
  return {
    check: () => access(root),
    has: async (key) => {
      const found = await stat(at(key)).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
        await stat(root);
      });
      return found?.isFile() === true;
    },
    listFiles: async (ending = /\.csv(\.gz)?$/) => {
      const names = await readdir(root).catch(refuse("read", root));
      const wanted = names.sort().filter((name) => ending.test(name));
      return await Promise.all(wanted.map((name) => describeFile(at(name))));
    },
    listFolders: async () => {
      const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
      const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
      return folders.map(({ name }) => name);
    },
    removeFolder: (name) => rm(at(name), { recursive: true, force: true }),
    open: (key, range) => openFile(at(key), range),
    readText: (key) =>
      readFile(at(key), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        return refuse("read", at(key))(error);
      }),
    makeWorkDirectory: async () => {
      await mkdir(root, { recursive: true }).catch(refuse("written", root));
      // Files that a killed run left behind.
      for (const name of await readdir(root))
        if (name.startsWith(".part-")) await rm(at(name), { recursive: true, force: true });
      return await mkdtemp(at(".part-")).catch(refuse("written", root));
    },
    putFile: move,
    put: async (key, content) => {
      const part = at(`${key}.part`);
      await makeFolder(key);
      await writeFile(part, content).catch(refuse("written", at(key)));
      await move(key, part);
    },
    create: async (key, content) => {
      const part = path.join(root, `.part-${randomUUID()}`);
      try {
        await writeFile(part, content, { flush: true, mode: 0o600 });
        // Unlike a rename, a link never replaces a file.
        await link(part, at(key));
        await flushDirectory(root);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
        return refuse("written", at(key))(error);
      } finally {
        await rm(part, { force: true });
      }
    },
    close: () => {},
  };
}

const refuse = (verb: "read" | "written", file: string) => (cause: unknown) => {
  throw new Error(`${file} cannot be ${verb}: ${describeReason(cause)}.`, { cause });
};

/** Without this, a loss of power could remove a file that was just linked. */
async function flushDirectory(directory: string): Promise<void> {
  const handle = await open(directory);
  await handle.sync().finally(() => handle.close());
}

async function openFile(file: string, range: Partial<Range> = {}): Promise<Readable> {
  const handle = await open(file).catch(refuse("read", file));
  return handle.createReadStream({ ...range, highWaterMark: 1 << 18 });
}

async function describeFile(file: string): Promise<StoredFile> {
  const found = await stat(file);
  if (!found.isFile()) throw new Error(`${file} is not a file. Rename or remove it.`);
  return {
    path: file,
    size: found.size,
    open: () => openFile(file),
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

/** The SHA-256 of a file's bytes, in hexadecimal. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 18 }), hash);
  return hash.digest("hex");
}
