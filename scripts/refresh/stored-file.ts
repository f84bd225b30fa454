import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/** A file of a directory or bucket. */
export interface StoredFile {
  /** As people know it: a path, or s3://… */
  path: string;
  /** Bytes as stored. */
  size: number;
  /** The bytes as they are stored. */
  open: () => Promise<Readable>;
  /** A text that changes when the content does. */
  identify: () => Promise<string>;
  /** @throws Error when the file is not as it was when it was found */
  checkUnchanged: () => Promise<void>;
}

/** A source file's text while it is read. */
export interface Content {
  stream: Readable;
  /** How many of its stored bytes lie behind this many bytes of its text. */
  countStored: (textBytes: number) => number;
}

/** Opens a source file as text, gunzipped where its name says that it is gzipped. */
export async function openContent(file: StoredFile): Promise<Content> {
  const source = await file.open();
  if (!file.path.endsWith(".gz")) return { stream: source, countStored: (textBytes) => textBytes };
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  source.on("error", (error) => gunzip.destroy(error));
  gunzip.on("close", () => source.destroy());
  return { stream: source.pipe(gunzip), countStored: () => gunzip.bytesWritten };
}
