import { createHash } from "node:crypto";
import { pipeline, type Readable } from "node:stream";
import { constants, createInflateRaw } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import Negotiator from "negotiator";
import type { Range } from "../../shared/objects/objects.ts";
import { allowAnyOrigin } from "../../shared/web/any-origin.ts";
import { makeError, sendError } from "../../shared/web/error-responses.ts";
import type { CompressedText, Manifest, PublicFile, PublicFiles } from "./public-files.ts";

const publicData = "/public-data/";
/** The federal service's path of the same files. */
const federalData = "/dissemination/public-data/gsa/";

const noSuchFile = makeError(404, "file_not_found", {
  message: "There is no such file.",
  hint: `If a data set is published, ${publicData}manifest.json lists its files.`,
});
const otherFile = makeError(412, "file_changed", {
  message: "The file has changed since you received this ETag.",
  details: "A new data set was published.",
  hint: "Start again without If-Match.",
});
const types: Record<string, string> = { gz: "application/gzip", parquet: "application/vnd.apache.parquet" };
// Caches revalidate their copy each time, and get 304 if it is current.
const headers = { "cache-control": "public, no-cache" };

/**
 * Serves the live data set's bulk files, and `manifest.json`, which lists them, with ranges and an ETag that is the
 * SHA-256 of the file. So a download that is resumed after a publication starts again (`If-Range`), and a client that
 * reads a file in parts learns that it has changed (`If-Match`, 412). The CSV files are also at the federal service's
 * paths: compressed if the client accepts gzip, or else decompressed while they are sent, with ranges of the text.
 */
export function servePublicData(
  app: FastifyInstance,
  files: PublicFiles,
  onRequest: onRequestHookHandler[] = [],
): void {
  for (const folder of [publicData, federalData]) {
    const url = `${folder}*`;
    app.route<{ Params: { "*": string } }>({
      method: ["GET", "HEAD"],
      url,
      onRequest: [allowAnyOrigin(app, url), ...onRequest],
      handler: async (request, reply) => {
        const { "*": name } = request.params;
        const live = await files.readManifest();
        const isManifest = name === "manifest.json";
        const found = live && !isManifest ? findFile(live.manifest, name, folder) : undefined;
        if (live === undefined || !(isManifest || found)) return sendError(reply, noSuchFile);
        const { data_set: id, published_at } = live.manifest;
        reply.headers({
          ...headers,
          "data-set": `"${id}"; published="${published_at.replace(/\.\d+Z$/, "Z")}"`,
        });
        if (found === undefined) {
          // It has no Last-Modified, because its text may change without a publication.
          const sha256 = createHash("sha256").update(live.text).digest("hex");
          reply.type("application/json; charset=utf-8");
          return isSettled(request, reply, `"${sha256}"`) ? reply : reply.send(live.text);
        }
        reply.header("last-modified", new Date(found.published_at ?? published_at).toUTCString());
        const directory = found.name.startsWith("changes-") ? found.name.replace(/\..*/, "") : id;
        const open = (range: Range) => files.open(directory, found.name, range);
        reply.header("content-disposition", `attachment; filename="${name.replace(/.*\//, "")}"`);
        if (folder === federalData && found.text) return sendCsv(request, reply, found, found.text, open);
        reply.type(types[name.split(".").at(-1) ?? ""] ?? "application/octet-stream");
        return sendRange(request, reply, found, open);
      },
    });
  }
}

function findFile({ files, changes }: Manifest, name: string, folder: string): PublicFile | undefined {
  if (folder === publicData) return [...files, ...changes].find((file) => file.name === name);
  const [, year = null, wanted] = /^(?:full\/|audit-year\/(\d{4})-ay-)(\w+)\.csv$/.exec(name) ?? [];
  return files.find(
    ({ format, table, audit_year }) => format === "csv" && table === wanted && audit_year === year,
  );
}

/** Sends a compressed file as CSV: as it is if the client accepts gzip, or else decompressed. */
async function sendCsv(
  request: FastifyRequest,
  reply: FastifyReply,
  file: PublicFile,
  text: CompressedText,
  open: (range: Range) => Promise<Readable>,
): Promise<FastifyReply> {
  reply.type("text/csv; charset=utf-8").header("vary", "Accept-Encoding");
  if (new Negotiator(request).encodings(["gzip"]).length > 0)
    return sendRange(request, reply.header("content-encoding", "gzip"), file, open);
  const describe = (err: unknown) => request.log.error({ err }, "a bulk file could not be read to its end");
  return sendRange(request, reply, { bytes: text.bytes, sha256: `${file.sha256}-csv` }, (range) =>
    openText({ bytes: file.bytes, text }, range, open, describe),
  );
}

/** Reads a range of a compressed file's text. Reads and decompresses only the parts that contain it. */
async function openText(
  { bytes, text }: { bytes: number; text: CompressedText },
  { start, end }: Range,
  open: (range: Range) => Promise<Readable>,
  describe: (err: unknown) => void,
): Promise<Readable> {
  const [first, last] = [Math.floor(start / text.part_bytes), Math.floor(end / text.part_bytes)];
  const compressed = await open({
    start: text.starts[first] ?? 0,
    end: (text.starts[last + 1] ?? bytes - trailerBytes) - 1,
  });
  async function* cut(chunks: AsyncIterable<Buffer>) {
    let [skip, left] = [start - first * text.part_bytes, end - start + 1];
    for await (const chunk of chunks) {
      const part = chunk.subarray(skip, skip + left);
      skip = Math.max(0, skip - chunk.length);
      left -= part.length;
      if (part.length > 0) yield part;
    }
  }
  // A part is not the end of the compressed data.
  const inflate = createInflateRaw({ finishFlush: constants.Z_SYNC_FLUSH });
  const content = pipeline(compressed, inflate, cut, (err) => err && describe(err));
  return content as unknown as Readable;
}

/** The checksum and length at the end of a gzip file. */
const trailerBytes = 8;

/** Sends 412 or 304 if the request's conditions require it. Returns whether it did. */
function isSettled(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header("etag", etag);
  const { "if-match": expected, "if-none-match": known, "if-modified-since": since } = request.headers;
  const isOther = expected !== undefined && !listsTag(expected, etag);
  // Only the file's own date counts. A date of the client's own may lie between a publication and the moment at which its files appear.
  const isSameDate = since !== undefined && since === reply.getHeader("last-modified");
  const isSame = known === undefined ? isSameDate : listsTag(known, etag);
  if (isOther) sendError(reply, otherFile);
  else if (isSame) reply.code(304).send();
  return isOther || isSame;
}

async function sendRange(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, sha256 }: Omit<PublicFile, "name">,
  read: (range: Range) => Promise<unknown>,
): Promise<FastifyReply> {
  const etag = `"${sha256}"`;
  if (isSettled(request, reply.header("accept-ranges", "bytes"), etag)) return reply;
  const condition = request.headers["if-range"];
  // A date in If-Range never matches, because it is less precise than the ETag.
  const isSame = condition === undefined || condition === etag;
  const range = parseRange(isSame ? request.headers.range : undefined, bytes);
  if (range === "outside") return reply.code(416).header("content-range", `bytes */${bytes}`).send();
  const { start, end } = range === "whole" ? { start: 0, end: bytes - 1 } : range;
  if (range !== "whole") reply.code(206).header("content-range", `bytes ${start}-${end}/${bytes}`);
  reply.header("content-length", end - start + 1);
  if (request.method === "HEAD" || bytes === 0) return reply.send();
  return reply.send(await read({ start, end }));
}

/** Compares weakly, because a proxy that compresses may have put W/ before the tag. */
function listsTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}

/**
 * Parses a Range header (RFC 9110, 14.2): the first and last byte, `whole` if the header must be ignored, or `outside`
 * if the file has no such byte. A request for several ranges gets the whole file, which the RFC allows.
 */
function parseRange(header: string | undefined, bytes: number): Range | "whole" | "outside" {
  const [, first = "", last = ""] = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/.exec(header ?? "") ?? [];
  if (first + last === "" || (first !== "" && last !== "" && Number(last) < Number(first))) return "whole";
  const start = first === "" ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === "" || last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1);
  return start > end ? "outside" : { start, end };
}
