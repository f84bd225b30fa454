import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/** A file of a directory or bucket. */
export interface StoredFile {
  /** A path, or s3://… */
  path: string;
  /** Bytes as stored. */
  size: number;
  /** Reads the bytes as stored. */
  open: () => Promise<Readable>;
  /** A text that changes when the content does. */
  identify: () => Promise<string>;
  /** @throws Error if the file has changed since it was listed */
  checkUnchanged: () => Promise<void>;
}

/** A directory, or the prefix of a bucket. Keys are paths below it. */
export interface Storage {
  /** @throws Error if it cannot be reached */
  check: (signal: AbortSignal) => Promise<void>;
  /** The files directly in it, by name. */
  listFiles: () => Promise<StoredFile[]>;
  /** The names of the folders directly in it. */
  listFolders: () => Promise<string[]>;
  removeFolder: (name: string) => Promise<void>;
  /** Makes a local directory for unfinished files. The caller removes it. */
  makeWorkDirectory: () => Promise<string>;
  /** Stores a finished local file. May move it. */
  putFile: (key: string, file: string, contentType: string) => Promise<void>;
  /** Writes a small file in one step. Replaces an existing one. */
  put: (key: string, content: string | Buffer, contentType: string) => Promise<void>;
  /** @returns undefined if there is none */
  readText: (key: string) => Promise<string | undefined>;
}

/** Opens a source file as text. Decompresses it if its name ends in .gz. */
export async function openContent(file: StoredFile): Promise<Readable> {
  const source = await file.open();
  if (!file.path.endsWith(".gz")) return source;
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  source.on("error", (error) => gunzip.destroy(error));
  gunzip.on("close", () => source.destroy());
  return source.pipe(gunzip);
}
