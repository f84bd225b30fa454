import { open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import type { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { hashFile } from "../../shared/directory-objects.ts";
import { describeReason } from "../../shared/limit-reading.ts";
import type { CompressedText } from "../../site/public-data/public-files.ts";
import { endConnection } from "./watch-session.ts";

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

/**
 * Writes the rows of a query to a gzipped CSV file. If that fails, ends the client's connection, because node-postgres
 * cannot use it any more after a COPY that was not read to its end.
 *
 * @throws Error that names the file if it cannot be written
 */
export async function writeCsv(
  client: Client,
  sql: string,
  target: string,
  signal?: AbortSignal,
): Promise<CsvFile> {
  const copy = client.query(copyTo(`copy (${sql}) to stdout (format csv, header)`));
  const text: CompressedText = { bytes: 0, part_bytes: partBytes, starts: [] };
  const save = (chunks: AsyncIterable<Buffer>) => saveFile(compress(chunks, text), target);
  try {
    await pipeline(copy, save, { ...(signal && { signal }) });
  } catch (error) {
    const reason = signal?.aborted ? signal.reason : error;
    await endConnection(client);
    throw reason;
  }
  return { path: target, rows: copy.rowCount, text };
}

async function saveFile(chunks: AsyncIterable<Buffer>, target: string): Promise<void> {
  const describe = (cause: unknown) => {
    throw new Error(`${target} cannot be written: ${describeReason(cause)}.`, { cause });
  };
  const file = await open(target, "w").catch(describe);
  try {
    for await (const chunk of chunks) await file.writeFile(chunk).catch(describe);
  } finally {
    await file.close().catch(describe);
  }
}

/**
 * Compresses text to one gzip member, whose parts can be decompressed without those before them: after each part, a full
 * flush makes the compressor forget the text so far. (Of several members, many programs read only the first.)
 *
 * @param text receives where each part starts
 */
async function* compress(chunks: AsyncIterable<Buffer>, text: CompressedText): AsyncGenerator<Buffer> {
  // @types/node does not know that zlib passes this on. It must have room for a part.
  const options = { level, readableHighWaterMark: 4 * partBytes };
  const gzip = createGzip(options);
  const compressPart = async (part: Buffer): Promise<Buffer> => {
    gzip.write(part);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_FULL_FLUSH, resolve));
    return gzip.read();
  };
  let compressed: Promise<Buffer> | undefined;
  let written = 0;
  for await (const part of splitText(chunks)) {
    const last = await compressed;
    written += last?.length ?? 0;
    text.starts.push(Math.max(written, headerBytes));
    text.bytes += part.length;
    // Meanwhile, the last part is saved, and the next one is read.
    compressed = compressPart(part);
    if (last !== undefined) yield last;
  }
  if (compressed !== undefined) yield await compressed;
  yield* gzip.end();
}

/** Cuts text into parts. The last one may be shorter. */
async function* splitText(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    while (bytes >= partBytes) {
      const all = Buffer.concat(waiting);
      yield all.subarray(0, partBytes);
      waiting = [all.subarray(partBytes)];
      bytes -= partBytes;
    }
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** What the manifest says about a file. */
export async function describeFile(file: string): Promise<{ bytes: number; sha256: string }> {
  return { bytes: (await stat(file)).size, sha256: await hashFile(file) };
}
