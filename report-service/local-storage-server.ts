import { type FileHandle, open, stat } from "node:fs/promises";
import path from "node:path";
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, fastify } from "fastify";
import { addQuietLogging, quietServerOptions } from "./quiet-logging.ts";
import { describeDownload } from "./report-id.ts";
import { verifyTarget } from "./signed-url.ts";

export interface LocalStorageServerParts {
  /** Holds `<report_id>.pdf` for each report. */
  directory: string;
  /** Shared with the report service, which signs the addresses. */
  secret: string;
  logger: FastifyBaseLogger;
}

const headers = {
  "cache-control": "private, no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/**
 * Makes the server of the files on this machine's disk: `GET` and `HEAD` of the addresses that the report
 * service signs. Everything else is answered 403 with an empty body; only who holds a valid signature learns
 * that a file does not exist (404).
 */
export function createLocalStorageServer({
  directory,
  secret,
  logger,
}: LocalStorageServerParts): FastifyInstance {
  const app = fastify({
    ...quietServerOptions(logger),
    exposeHeadRoutes: false,
    requestTimeout: 10_000,
    // A download that stands still for this long has been given up.
    connectionTimeout: 60_000,
    frameworkErrors: (_error, _request, reply) => {
      void refuse(reply);
    },
  });
  addQuietLogging(app);
  app.setNotFoundHandler((_request, reply) => refuse(reply));
  app.setErrorHandler((error, request, reply) => {
    request.log.error({ err: error }, "a file could not be read");
    return reply.code(500).headers(headers).send();
  });
  app.route({
    method: ["GET", "HEAD"],
    url: "/reports/*",
    handler: async (request, reply) => {
      // The target as it was sent, not as it was parsed.
      const reportId = verifyTarget(secret, request.raw.url ?? "");
      if (reportId === null) return refuse(reply);
      const file = await openFile(directory, `${reportId}.pdf`);
      if (file === null) return reply.code(404).headers(headers).send();
      reply.headers({
        ...headers,
        "accept-ranges": "none",
        "content-length": file.size,
        "content-type": "application/pdf",
        "content-disposition": describeDownload(reportId),
      });
      return sendContent(reply, file.handle, file.size);
    },
  });
  return app;
}

function refuse(reply: FastifyReply): FastifyReply {
  return reply.code(403).headers(headers).send();
}

/** @returns null if there is no such file in the directory */
async function openFile(
  directory: string,
  name: string,
): Promise<{ handle: FileHandle; size: number } | null> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path.join(directory, name));
    const found = await handle.stat();
    if (found.isFile()) return { handle, size: found.size };
    await handle.close();
    return null;
  } catch (error) {
    await handle?.close();
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    // A directory that has gone is an outage and not a missing file.
    await stat(directory);
    return null;
  }
}

async function sendContent(reply: FastifyReply, handle: FileHandle, size: number): Promise<FastifyReply> {
  if (reply.request.method === "HEAD" || size === 0) {
    await handle.close();
    return reply.send();
  }
  // No more than was announced, even if the file grows meanwhile.
  const content = handle.createReadStream({ start: 0, end: size - 1 });
  content.once("error", (err) => reply.log.error({ err }, "a file could not be read to its end"));
  return reply.send(content);
}
