import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { hidePath, isLoggableId } from "./hide-secrets.ts";
import type { Outcome } from "./proxy.ts";

/** nginx's status for a client that went away. */
const CLIENT_CLOSED = 499;

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
        outcome.requestId !== undefined && isLoggableId(outcome.requestId) ? outcome.requestId : undefined,
      kong_request_id: outcome.kongRequestId,
      method: request.method,
      path: hidePath(request.url ?? ""),
      status: response.writableFinished ? response.statusCode : CLIENT_CLOSED,
      durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
      consumer: outcome.consumer,
      ...(error === undefined ? {} : { error }),
    },
    "request",
  );
}
