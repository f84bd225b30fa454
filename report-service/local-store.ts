import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { open } from "node:fs/promises";
import path from "node:path";
import { openDirectory } from "../shared/objects/directory.ts";
import { allowAnyOrigin } from "../shared/web/any-origin.ts";
import { callStorage } from "../shared/web/call-storage.ts";
import { sendError } from "../shared/web/error-responses.ts";
import { invalidLink, notFound } from "./error-responses.ts";
import { describeDownload, isFileName, nameReportFile, type Storage, signedUrlSeconds } from "./storage.ts";

/**
 * Storage on this machine's disk: a directory that holds the PDF of each report. This service serves the
 * files itself, at URLs signed with a secret that exists only while the process runs.
 */
export function createLocalStore(directory: string): Storage {
  const secret = randomBytes(32);
  const files = openDirectory(directory);
  const sign = (file: string, expires: number) => {
    const unsigned = `/reports/${file}?expires=${expires}`;
    return `${unsigned}&signature=${createHmac("sha256", secret).update(unsigned).digest("hex")}`;
  };
  /** Returns the file's name if a path and query string are exactly as they were signed, and have not expired. */
  const verify = (target: string): string | undefined => {
    const [, file = "", expires = ""] = /^\/reports\/([^/?]+)\?expires=(\d+)&/.exec(target) ?? [];
    const [sent, signed] = [Buffer.from(target), Buffer.from(sign(file, Number(expires)))];
    if (sent.length !== signed.length || !timingSafeEqual(sent, signed)) return undefined;
    return Number(expires) * 1000 > Date.now() ? file : undefined;
  };
  return {
    signDownload: async (reportId) => {
      if (!isFileName(reportId)) return null;
      const file = nameReportFile(reportId);
      const isThere = await callStorage(`the file of ${reportId}`, () => files.has(file));
      return isThere ? sign(file, Math.floor(Date.now() / 1000) + signedUrlSeconds) : null;
    },
    check: () => callStorage(`the directory ${directory}`, files.check),
    addRoutes: (app, onRequest) => {
      const hooks = [allowAnyOrigin(app, "/reports/*"), ...onRequest];
      app.get("/reports/*", { onRequest: hooks }, async (request, reply) => {
        // Verifies the path and query string as sent, not as parsed.
        const name = verify(request.raw.url ?? "");
        if (name === undefined) return sendError(reply, invalidLink);
        const file = await callStorage(`the file ${name}`, async () =>
          (await files.has(name)) ? await open(path.join(directory, name)) : null,
        );
        if (file === null) {
          request.log.error(
            { report_id: path.parse(name).name },
            "a file disappeared after its URL was signed",
          );
          return sendError(reply, notFound);
        }
        const { size } = await file.stat();
        reply.headers({ ...describeDownload(name), "content-length": size });
        // Sends as many bytes as Content-Length says, even if the file grows meanwhile.
        return reply.send(file.createReadStream({ end: Math.max(0, size - 1) }));
      });
    },
    close: () => {},
  };
}
