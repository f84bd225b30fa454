import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Outcome } from "./proxy.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** nginx's status for a client that went away. */
const CLIENT_CLOSED = 499;

/** An X-Request-Id that may be logged, since clients may choose it (db/api/request/note_request_id.sql). */
const SANE_ID = /^(?![A-Za-z0-9]{43}$)[\w.:-]{1,63}$/;

/** One line a request: never a key, a token or another header. `startedAt` as of `performance.now()`. */
export function logRequest(
  logger: Logger,
  request: IncomingMessage,
  response: ServerResponse,
  outcome: Outcome,
  startedAt: number,
): void {
  const cause = outcome.error instanceof Error ? (outcome.error.cause ?? outcome.error) : undefined;
  const error = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : undefined;
  logger.info(
    {
      request_id:
        outcome.requestId !== undefined && SANE_ID.test(outcome.requestId) ? outcome.requestId : undefined,
      kong_request_id: outcome.kongRequestId,
      method: request.method,
      path: hideSecrets(request.url ?? ""),
      status: response.writableFinished ? response.statusCode : CLIENT_CLOSED,
      durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
      consumer: outcome.consumer,
      ...(error === undefined ? {} : { error }),
    },
    "request",
  );
}

/** The path alone, since the query may hold a key; without UUIDs, which one-time tokens are. */
export function hideSecrets(target: string): string {
  const [path = ""] = target.split("?");
  return path.replace(UUID, "<uuid>");
}
