import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { StoredFile } from "../../shared/objects/objects.ts";

/** Opens a source file as text. Decompresses it if its name ends in .gz. */
export async function openContent(file: StoredFile): Promise<Readable> {
  const source = await file.open();
  if (!file.path.endsWith(".gz")) return source;
  // An error of either is also an error of the stream that is returned.
  return pipeline(source, createGunzip({ chunkSize: 1 << 18 }), () => {});
}
