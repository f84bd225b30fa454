import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { StoredFile } from "../../shared/objects/objects.ts";

/** Opens a source file as text. Decompresses it if its name ends in .gz. */
export async function openContent(file: StoredFile): Promise<Readable> {
  const source = await file.open();
  if (!file.path.endsWith(".gz")) return source;
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  source.on("error", (error) => gunzip.destroy(error));
  gunzip.on("close", () => source.destroy());
  return source.pipe(gunzip);
}
