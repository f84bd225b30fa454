import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { open } from "node:fs/promises";
import path from "node:path";
import { openDirectory } from "../shared/directory-objects.ts";
import { callStorage, hastyLimits } from "../shared/web/call-storage.ts";
import { sendError } from "../shared/web/error-responses.ts";
import { invalidLink, notFound } from "./error-responses.ts";
import { describeDownload, isFileName, type Storage, signedUrlSeconds } from "./storage.ts";

/**
 * Storage on this machine's disk: a directory that holds `<report_id>.pdf` for each report. This service serves the
 * files itself, at URLs signed with a secret that exists only while the process runs.
 */
export function createLocalStore(directory: string): Storage {
  const secret = randomBytes(32);
  const files = openDirectory(directory, { limits: hastyLimits });
  const hasFile = (reportId: string) => files.has(`${reportId}.pdf`);
  const sign = (reportId: string, expires: number) => {
    const unsigned = `/reports/${reportId}.pdf?expires=${expires}`;
    return `${unsigned}&signature=${createHmac("sha256", secret).update(unsigned).digest("hex")}`;
  };
  /** Returns the report ID if a path and query string are exactly as they were signed, and have not expired. */
  const verify = (target: string): string | undefined => {
    const [, reportId = "", expires = ""] = /^\/reports\/([^/?]+)\.pdf\?expires=(\d+)&/.exec(target) ?? [];
    const [sent, signed] = [Buffer.from(target), Buffer.from(sign(reportId, Number(expires)))];
    if (sent.length !== signed.length || !timingSafeEqual(sent, signed)) return undefined;
    return Number(expires) * 1000 > Date.now() ? reportId : undefined;
  };
  return {
    signDownload: async (reportId) => {
      if (!isFileName(reportId)) return null;
      const isThere = await callStorage(`the file of ${reportId}`, () => hasFile(reportId));
      return isThere ? sign(reportId, Math.floor(Date.now() / 1000) + signedUrlSeconds) : null;
    },
    check: () => callStorage(`the directory ${directory}`, files.check),
    addRoutes: (app, onRequest) => {
      app.get("/reports/*", { onRequest }, async (request, reply) => {
        // Verifies the path and query string as sent, not as parsed.
        const reportId = verify(request.raw.url ?? "");
        if (reportId === undefined) return sendError(reply, invalidLink);
        const file = await callStorage(`the file of ${reportId}`, async () =>
          (await hasFile(reportId)) ? await open(path.join(directory, `${reportId}.pdf`)) : null,
        );
        if (file === null) {
          request.log.error({ report_id: reportId }, "a file disappeared after its URL was signed");
          return sendError(reply, notFound);
        }
        const { size } = await file.stat();
        reply.headers({ ...describeDownload(reportId), "content-length": size });
        // Sends as many bytes as Content-Length says, even if the file grows meanwhile.
        return reply.send(file.createReadStream({ end: Math.max(0, size - 1) }));
      });
    },
    close: () => {},
  };
}
