import { open, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";
import type { CompressedText } from "../../report-service/public-files.ts";
import { hashFile } from "../../service/directory-objects.ts";
import { describeReason } from "../../service/limit-reading.ts";
import { endConnection } from "./watch-session.ts";

// Takes half the time of level 6, for files that are a twelfth larger.
const compress = promisify<Buffer, { level: number }, Buffer>(gzip);
const level = 4;
const memberBytes = 4 << 20;

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
  const text: CompressedText = { bytes: 0, member_bytes: memberBytes, starts: [] };
  const write = (chunks: AsyncIterable<Buffer>) => writeMembers(chunks, target, text);
  try {
    await pipeline(copy, write, { ...(signal && { signal }) });
  } catch (error) {
    const reason = signal?.aborted ? signal.reason : error;
    await endConnection(client);
    throw reason;
  }
  return { path: target, rows: copy.rowCount, text };
}

async function writeMembers(
  chunks: AsyncIterable<Buffer>,
  target: string,
  text: CompressedText,
): Promise<void> {
  const describe = (cause: unknown) => {
    throw new Error(`${target} cannot be written: ${describeReason(cause)}.`, { cause });
  };
  const file = await open(target, "w").catch(describe);
  try {
    let written = 0;
    // The next member is read while this one is compressed.
    let compressed: Promise<Buffer> | undefined;
    const save = async () => {
      const member = await compressed;
      if (member === undefined) return;
      text.starts.push(written);
      await file.writeFile(member).catch(describe);
      written += member.length;
    };
    for await (const block of splitText(chunks)) {
      await save();
      text.bytes += block.length;
      compressed = compress(block, { level });
    }
    await save();
  } finally {
    await file.close().catch(describe);
  }
}

/** Cuts text into blocks of the size of a member. The last one may be shorter. */
async function* splitText(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    while (bytes >= memberBytes) {
      const all = Buffer.concat(waiting);
      yield all.subarray(0, memberBytes);
      waiting = [all.subarray(memberBytes)];
      bytes -= memberBytes;
    }
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** What the manifest says about a file. */
export async function describeFile(file: string): Promise<{ bytes: number; sha256: string }> {
  return { bytes: (await stat(file)).size, sha256: await hashFile(file) };
}
