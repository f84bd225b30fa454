import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { notFound, sendAnswer, tokenMissing } from "./answers.ts";
import { DatabaseUnavailable } from "./database.ts";
import type { Redemption, ReportMetrics } from "./metrics.ts";
import { redeemToken } from "./redeem-token.ts";
import { type Storage, StorageUnavailable } from "./storage.ts";

const downloads = "/dissemination/report/pdf/ota";
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Redeems a one-time token for a redirect to the file, and counts what came of it. */
export function serveDownloads(
  app: FastifyInstance,
  { pool, storage, metrics }: { pool: Pool; storage: Storage; metrics: ReportMetrics },
): void {
  for (const path of [downloads, `${downloads}/`]) {
    app.get(path, (_request, reply) => sendAnswer(reply, tokenMissing));
  }
  app.get<{ Params: { token: string } }>(`${downloads}/:token`, async (request, reply) => {
    const { token } = request.params;
    const { socket } = request.raw;
    const note = (result: Redemption) => metrics.redemptions.inc({ result });
    if (!uuid.test(token)) {
      note("refused");
      return sendAnswer(reply, notFound);
    }
    const isClientWaiting = () => !socket.destroyed && socket.writable;
    const outcome = await redeemToken({ pool, storage }, token, isClientWaiting).catch((error: unknown) => {
      note(describeFailure(error));
      throw error;
    });
    note(outcome.result);
    if (outcome.result !== "redeemed") return sendAnswer(reply, notFound);
    request.log.info({ requested_in: outcome.requestedIn }, "a token was redeemed");
    return reply.redirect(outcome.address, 302);
  });
}

function describeFailure(error: unknown): Redemption {
  if (error instanceof StorageUnavailable) return "storage_unavailable";
  return error instanceof DatabaseUnavailable ? "database_unavailable" : "failed";
}
