import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Client } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { hashFile } from "./directory-storage.ts";

// Takes half the time of level 6, for files that are a twelfth larger.
const gzipLevel = 4;

/** A gzipped CSV file, with its number of rows and its bytes before compression. */
export interface CsvFile {
  path: string;
  rows: number;
  textBytes: number;
}

/** Writes the rows of a query to a gzipped CSV file. */
export async function writeCsv(client: Client, sql: string, target: string): Promise<CsvFile> {
  const copy = client.query(copyTo(`copy (${sql}) to stdout (format csv, header)`));
  const gzip = createGzip({ level: gzipLevel, chunkSize: 1 << 16 });
  await pipeline(copy, gzip, createWriteStream(target));
  return { path: target, rows: copy.rowCount, textBytes: gzip.bytesWritten };
}

/** What the manifest says about a file. */
export async function describeFile(file: string): Promise<{ bytes: number; sha256: string }> {
  return { bytes: (await stat(file)).size, sha256: await hashFile(file) };
}
