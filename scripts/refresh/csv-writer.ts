import { open } from "node:fs/promises";
import { constants, createGzip } from "node:zlib";
import { describeReason } from "../../shared/objects/read-with-retries.ts";
import type { CompressedText } from "../../site/public-data/public-files.ts";

// Takes half the time of level 6, for files that are a twelfth larger.
const level = 4;
const partBytes = 4 << 20;
/** The bytes before the first part: zlib's gzip header. */
const headerBytes = 10;

/** A gzipped CSV file, with its number of rows. */
export interface CsvFile {
  path: string;
  rows: number;
  text: CompressedText;
}

export type CsvWriter = Awaited<ReturnType<typeof openCsvWriter>>;

/**
 * Creates a file with one gzip member, whose parts can be decompressed without those before them: after each part, a full flush
 * makes the compressor forget the text so far. (Of several members, many programs read only the first.)
 *
 * @param free buffers for parts, which writers share, because allocating one for each part takes a tenth of the time
 * @throws Error that names the file if it cannot be written; so do the returned functions
 */
export async function openCsvWriter(path: string, free: Buffer[]) {
  const describe = (cause: unknown) => {
    throw new Error(`${path} cannot be written: ${describeReason(cause)}.`, { cause });
  };
  const target = await open(path, "w").catch(describe);
  const file: CsvFile = { path, rows: 0, text: { bytes: 0, part_bytes: partBytes, starts: [] } };
  // There must be room for a part. @types/node does not know that zlib accepts a readableHighWaterMark.
  const options = { level, chunkSize: 1 << 18, readableHighWaterMark: 4 * partBytes };
  const gzip = createGzip(options);
  let part = free.pop() ?? Buffer.allocUnsafe(partBytes);
  let filled = 0;
  let written = 0;
  let saved = Promise.resolve();

  const save = async (bytes: Buffer) => {
    written += bytes.length;
    await target.writeFile(bytes).catch(describe);
  };
  const compress = async (text: Buffer, length: number) => {
    file.text.starts.push(Math.max(written, headerBytes));
    gzip.write(length < partBytes ? text.subarray(0, length) : text);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_FULL_FLUSH, resolve));
    await save(gzip.read());
    free.push(text);
  };
  /** Compresses the part once the parts before it are saved. */
  const finishPart = () => {
    const [text, length] = [part, filled];
    saved = saved.then(() => compress(text, length));
    file.text.bytes += filled;
    filled = 0;
    return saved;
  };

  return {
    file,
    /** Copies a row. If this fills a part, returns a promise that resolves when the part is saved. */
    add: (row: Buffer): Promise<void> | undefined => {
      let full: Promise<void> | undefined;
      for (let start = 0; start < row.length; ) {
        const copied = row.copy(part, filled, start);
        start += copied;
        filled += copied;
        if (filled < partBytes) continue;
        full = finishPart();
        part = free.pop() ?? Buffer.allocUnsafe(partBytes);
      }
      return full;
    },
    /** Saves what is left. */
    end: async (): Promise<void> => {
      if (filled > 0) finishPart();
      await saved;
      for await (const bytes of gzip.end()) await save(bytes);
    },
    close: () => target.close().catch(describe),
  };
}
