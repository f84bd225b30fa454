import { open, stat } from "node:fs/promises";
import path from "node:path";
import type { FastifyBaseLogger, FastifyReply } from "fastify";
import { type Answer, addressRefused, failed, makeAnswer, securityHeaders, sendAnswer } from "./answers.ts";
import type { LocalStorageConfig } from "./config.ts";
import { listen, type RunningServer } from "./listen.ts";
import { verifyTarget } from "./local-store.ts";
import { createQuietApp } from "./quiet-logging.ts";
import { describeDownload } from "./storage.ts";

const fileMissing = makeAnswer(404, "file_not_found", {
  message: "The PDF of this report is missing.",
  hint: "Report it to whoever operates this service.",
});

/**
 * Starts the server of the files on this machine's disk: `<report_id>.pdf` for each report. It answers `GET` and `HEAD` of the
 * addresses that the report service signs, and refuses everything else with 403, so that only clients with a valid signature
 * learn that a file does not exist.
 *
 * @throws Error if the directory does not exist or the port is taken
 */
export async function startLocalStorage({
  host,
  port,
  directory,
  secret,
  logger,
}: LocalStorageConfig & { logger: FastifyBaseLogger }): Promise<RunningServer> {
  const found = await stat(directory).catch(() => undefined);
  if (!found?.isDirectory()) {
    throw new Error(`${directory} is not a directory. Set STORAGE_DIRECTORY to one that exists.`);
  }
  const app = createQuietApp(logger, {
    frameworkErrors: (_error, _request, reply) => void refuse(reply, addressRefused),
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply, addressRefused));
  app.setErrorHandler((err, request, reply) => {
    request.log.error({ err }, "a file could not be read");
    return sendAnswer(reply, failed);
  });
  app.route({
    method: ["GET", "HEAD"],
    url: "/reports/*",
    handler: async (request, reply) => {
      // The target as it was sent, not as it was parsed.
      const reportId = verifyTarget(secret, request.raw.url ?? "");
      if (reportId === null) return refuse(reply, addressRefused);
      const file = await openFile(directory, `${reportId}.pdf`);
      if (file === null) return refuse(reply, fileMissing);
      reply.headers({
        ...securityHeaders,
        "cache-control": "private, no-store",
        "accept-ranges": "none",
        "content-length": file.size,
        "content-type": "application/pdf",
        "content-disposition": describeDownload(reportId),
      });
      if (request.method === "HEAD" || file.size === 0) {
        await file.handle.close();
        return reply.send();
      }
      // The size that was announced, even if the file grows meanwhile.
      const content = file.handle.createReadStream({ start: 0, end: file.size - 1 });
      content.once("error", (err) => request.log.error({ err }, "a file could not be read to its end"));
      return reply.send(content);
    },
  });
  return listen(app, { host, port, portVariable: "STORAGE_PORT" });
}

/** Sends a page to clients that name text/html, as browsers do, and JSON to others. */
function refuse(reply: FastifyReply, answer: Answer): FastifyReply {
  reply.header("vary", "Accept");
  if (!reply.request.headers.accept?.includes("text/html")) return sendAnswer(reply, answer);
  const { message, details, hint } = answer.body;
  const text = [message, details, hint].filter((each) => each !== null).join(" ");
  const page = `<!doctype html>\n<html lang="en">\n<title>${message}</title>\n<p>${text}</p>\n</html>\n`;
  return reply.code(answer.status).headers(securityHeaders).type("text/html; charset=utf-8").send(page);
}

/** Returns null if the directory has no such file. */
async function openFile(directory: string, name: string) {
  const handle = await open(path.join(directory, name)).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    // If the directory itself is missing, storage is out.
    await stat(directory);
  });
  if (!handle) return null;
  const found = await handle.stat();
  if (found.isFile()) return { handle, size: found.size };
  await handle.close();
  return null;
}
