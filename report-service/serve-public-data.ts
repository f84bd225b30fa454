import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Answer, notFound, sendAnswer } from "./answers.ts";
import { parseRange } from "./parse-range.ts";
import type { PublicFiles } from "./public-files.ts";

/** Where the bulk files are served. */
export const publicData = "/public-data/";

const noSuchFile: Answer = {
  status: 404,
  body: { ...notFound.body, code: "file_not_found", details: null, hint: `See ${publicData}manifest.json.` },
};
const otherFile: Answer = {
  status: 412,
  body: {
    code: "file_changed",
    message: "This is another file than the one that If-Match names.",
    details: "A new data set was published.",
    hint: "Start again without If-Match.",
  },
};
const types: Record<string, string> = { gz: "application/gzip", parquet: "application/vnd.apache.parquet" };
const headers = {
  // Whoever keeps a copy asks whether it is still the one, and is told 304.
  "cache-control": "public, no-cache",
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "Data-Set, ETag, Accept-Ranges, Content-Range, Content-Length",
};

/** For a page of another host that reads parts of a file, which browsers ask about beforehand. */
const preflight = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD",
  "access-control-allow-headers": "Range, If-Match, If-None-Match, If-Range",
  "access-control-max-age": "86400",
};

/**
 * Serves the bulk files of the live data set, and `manifest.json`, which lists them: `GET` and `HEAD`, with ranges, and
 * an ETag that is the SHA-256 of the file. So a download that is resumed after a publication starts anew (`If-Range`), and
 * whoever reads a file part by part learns that it is another one (`If-Match`, 412).
 */
export function servePublicData(app: FastifyInstance, files: PublicFiles): void {
  app.options(`${publicData}:name`, (_request, reply) => reply.code(204).headers(preflight).send());
  app.route<{ Params: { name: string } }>({
    method: ["GET", "HEAD"],
    url: `${publicData}:name`,
    handler: async (request, reply) => {
      const found = await files.readManifest();
      if (found === undefined) return sendAnswer(reply, noSuchFile);
      const { manifest, text } = found;
      const { name } = request.params;
      reply.headers({
        ...headers,
        "data-set": `"${manifest.data_set}"; published="${manifest.published_at.replace(/\.\d+Z$/, "Z")}"`,
      });
      if (name === "manifest.json") {
        const body = Buffer.from(text);
        const sha256 = createHash("sha256").update(body).digest("hex");
        reply.type("application/json; charset=utf-8");
        return await sendRange(request, reply, { bytes: body.length, sha256 }, async ({ start, end }) =>
          body.subarray(start, end + 1),
        );
      }
      const file = [...manifest.files, ...manifest.changes].find((each) => each.name === name);
      if (file === undefined) return sendAnswer(reply, noSuchFile);
      const type = types[name.split(".").at(-1) ?? ""] ?? "application/octet-stream";
      reply.type(type).header("content-disposition", `attachment; filename="${name}"`);
      return await sendRange(request, reply, file, (range) =>
        files.open(name.startsWith("changes-") ? name.replace(/\..*/, "") : manifest.data_set, name, range),
      );
    },
  });
}

async function sendRange(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, sha256 }: { bytes: number; sha256: string },
  read: (range: { start: number; end: number }) => Promise<unknown>,
): Promise<FastifyReply> {
  const etag = `"${sha256}"`;
  reply.headers({ etag, "accept-ranges": "bytes" });
  const expected = request.headers["if-match"];
  if (expected !== undefined && !listsTag(expected, etag)) return sendAnswer(reply, otherFile);
  if (listsTag(request.headers["if-none-match"], etag)) return reply.code(304).send();
  const condition = request.headers["if-range"];
  // A date says less than the tag: it never matches.
  const isSame = condition === undefined || condition === etag;
  const range = parseRange(isSame ? request.headers.range : undefined, bytes);
  if (range === "outside") return reply.code(416).header("content-range", `bytes */${bytes}`).send();
  const { start, end } = range === "whole" ? { start: 0, end: bytes - 1 } : range;
  if (range !== "whole") reply.code(206).header("content-range", `bytes ${start}-${end}/${bytes}`);
  reply.header("content-length", end - start + 1);
  if (request.method === "HEAD" || bytes === 0) return reply.send();
  return reply.send(await read({ start, end }));
}

/** If-None-Match compares weakly: a proxy that compresses may have put W/ before the tag. */
function listsTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}
