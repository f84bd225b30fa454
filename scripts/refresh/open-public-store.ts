import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { PublicStore } from "./public-store.ts";

/** Opens a directory, or an s3:// address, as the place of the bulk files. */
export function openPublicStore(location: string): PublicStore {
  return location.startsWith("s3://") ? openLazily(location) : openDirectory(path.resolve(location));
}

/** The AWS SDK is large: only who needs it waits for it. */
function openLazily(location: string): PublicStore {
  const opened = async () => (await import("./s3-public-store.ts")).openS3PublicStore(location);
  let store: ReturnType<typeof opened> | undefined;
  const open = () => (store ??= opened());
  return {
    makeWorkDirectory: () => mkdtemp(path.join(tmpdir(), "public-data-")),
    put: async (...values) => (await open()).put(...values),
    putText: async (...values) => (await open()).putText(...values),
    readText: async (key) => (await open()).readText(key),
    listFolders: async () => (await open()).listFolders(),
    removeFolder: async (id) => (await open()).removeFolder(id),
  };
}

function openDirectory(root: string): PublicStore {
  return {
    makeWorkDirectory: async () => {
      await mkdir(root, { recursive: true });
      const manifest = path.join(root, "manifest.json");
      const found = await stat(manifest).catch(() => undefined);
      // It is replaced last, when the data set is live.
      if (found?.isFile() === false) throw new Error(`${manifest} is not a file.`);
      // What a run that was killed has left.
      for (const name of await readdir(root)) {
        if (name.startsWith(".part-")) await rm(path.join(root, name), { recursive: true, force: true });
      }
      return await mkdtemp(path.join(root, ".part-"));
    },
    put: async (key, file) => {
      await mkdir(path.dirname(path.join(root, key)), { recursive: true });
      await rename(file, path.join(root, key));
    },
    putText: async (key, text) => {
      await mkdir(path.dirname(path.join(root, key)), { recursive: true });
      await writeFile(path.join(root, `${key}.part`), text);
      await rename(path.join(root, `${key}.part`), path.join(root, key));
    },
    readText: (key) =>
      readFile(path.join(root, key), "utf8").catch((cause: NodeJS.ErrnoException) => {
        if (cause.code === "ENOENT") return undefined;
        throw new Error(`${path.join(root, key)} cannot be read: ${cause.code}.`, { cause });
      }),
    listFolders: async () => {
      const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
      return entries
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
        .map(({ name }) => name);
    },
    removeFolder: (id) => rm(path.join(root, id), { recursive: true, force: true }),
  };
}
