import type { FastifyInstance } from "fastify";
import { DatabaseError, type Pool } from "pg";
import { StorageUnavailable } from "../shared/web/call-storage.ts";
import { DatabaseUnavailable, NotServing, queryDatabase, queryWhileOn } from "../shared/web/database.ts";
import { makeUnavailable, sendError } from "../shared/web/error-responses.ts";
import { notFound, tokenMissing } from "./error-responses.ts";
import type { Redemption, ReportMetrics } from "./metrics.ts";
import type { Storage } from "./storage.ts";

const downloads = "/dissemination/report/pdf/ota";
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const uncertain = makeUnavailable(
  "The token may have been used.",
  "Try the same link again in a few seconds. If you get 404, request access to the file again.",
);
const notRedeemed = makeUnavailable("The token was not used.");

/** Shorter than any client's patience. A commit may wait for a replica without end (docs/scaling.md, Failover). */
const redemptionLimit = { query_timeout: 4000 };
/** SQLSTATE of request.refuse(): no replica confirms writes (access.require_confirmed_writes). */
const refused = "PGRST";

/** The database failed while it redeemed a token, so the token may or may not have been redeemed. */
class RedemptionUncertain extends DatabaseUnavailable {
  override name = "RedemptionUncertain";
}

/**
 * Redirects a one-time token to a signed URL of its report's PDF, and counts the results.
 *
 * It signs the URL first, without holding a database connection, so that slow storage delays no other token. Then one
 * statement redeems the token, for at most one caller. So the token stays valid if storage fails or lacks the file, or
 * the client has left. A token is lost only if this process or the client ends between that statement and the response.
 */
export function serveDownloads(
  app: FastifyInstance,
  { pool, storage, metrics }: { pool: Pool; storage: Storage; metrics: ReportMetrics },
): void {
  /** Returns the signed URL and what to log, or why there is no URL. */
  const redeem = async (token: string, isClientWaiting: () => boolean) => {
    if (!uuid.test(token)) return "refused";
    const [reportId, requestedIn] = await queryWhileOn(
      pool,
      "access.find_report_of_token($1), access.find_request_of_token($1)",
      [token],
    );
    if (typeof reportId !== "string") return "refused";
    const signedUrl = await storage.signDownload(reportId);
    if (signedUrl === null) return "file_missing";
    if (!isClientWaiting()) return "client_gone";
    const redemption = "select access.redeem_access_token($1)";
    const [redeemed] = await queryDatabase(pool, redemption, [token], redemptionLimit).catch(
      (error: DatabaseUnavailable) => {
        const { message, cause } = error;
        if (cause instanceof DatabaseError && cause.code === refused) throw error;
        throw new RedemptionUncertain(message, { cause });
      },
    );
    return redeemed === reportId ? { signedUrl, requestedIn } : "refused";
  };
  app.get(downloads, (_request, reply) => sendError(reply, tokenMissing));
  app.get<{ Params: { token: string } }>(`${downloads}/:token`, async (request, reply) => {
    const { socket } = request.raw;
    try {
      const outcome = await redeem(request.params.token, () => !socket.destroyed && socket.writable);
      metrics.countRedemption(typeof outcome === "string" ? outcome : "redeemed");
      if (typeof outcome === "string") return sendError(reply, notFound);
      // The X-Request-Id of the request that created the token, if the database knows it.
      request.log.info({ requested_in: outcome.requestedIn }, "a token was redeemed");
      return reply.redirect(outcome.signedUrl);
    } catch (error) {
      metrics.countRedemption(describeFailure(error));
      if (!(error instanceof StorageUnavailable || error instanceof DatabaseUnavailable)) throw error;
      request.log.error({ err: error }, "a token could not be redeemed");
      return sendError(reply, error instanceof RedemptionUncertain ? uncertain : notRedeemed);
    }
  });
}

function describeFailure(error: unknown): Redemption {
  if (error instanceof StorageUnavailable) return "storage_unavailable";
  if (error instanceof NotServing) return error.reason;
  return error instanceof DatabaseUnavailable ? "database_unavailable" : "failed";
}
