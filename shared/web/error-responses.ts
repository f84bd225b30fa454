import type { FastifyReply } from "fastify";

/** An error response. It repeats no part of the request. */
export interface ErrorResponse {
  status: number;
  headers?: Record<string, string> | undefined;
  body: { code: string; message: string; details: string | null; hint: string | null };
}

export const makeError = (
  status: number,
  code: string,
  {
    message,
    details = null,
    hint = null,
  }: { message: string; details?: string | null; hint?: string | null },
  headers?: Record<string, string>,
): ErrorResponse => ({ status, headers, body: { code, message, details, hint } });

/** An error that says what to answer. */
export class ErrorWithResponse extends Error {
  readonly response: ErrorResponse;
  constructor(message: string, response: ErrorResponse) {
    super(message);
    this.response = response;
  }
}

export const noSuchPage = makeError(404, "no_such_page", {
  message: "There is no such page.",
  hint: "Check the URL, or start from the home page.",
});

export const methodNotAllowed = makeError(
  405,
  "method_not_allowed",
  { message: "This service is read-only.", hint: "Use GET." },
  { allow: "GET" },
);

const tryAgain = "Try the same link again in a few seconds.";
export function makeUnavailable(details: string | null = null, hint = tryAgain): ErrorResponse {
  const message = "This service is temporarily unavailable.";
  return makeError(503, "temporarily_unavailable", { message, details, hint }, { "retry-after": "5" });
}

const tryLater = "Try again later. A one-time token that was not used stays valid until it expires.";
const inAMinute = { "retry-after": "60" };

/** The responses while the service gives out no data, by the reason. */
export const notServing = {
  switched_off: makeError(
    503,
    "service_switched_off",
    { message: "This service is switched off.", hint: tryLater },
    inAMinute,
  ),
  no_data_set: makeError(
    503,
    "no_data_set",
    {
      message: "No data set has been published yet.",
      details: "The operator is setting up or restoring the service.",
      hint: tryLater,
    },
    inAMinute,
  ),
};

export const failed = makeError(500, "internal_error", {
  message: "This service failed.",
  hint: "Try again later. If it fails again, send the X-Request-Id to the operator.",
});

/** For the log: a client that left gets no response. */
export const incomplete = makeError(400, "incomplete_request", { message: "The request ended early." });

/** The response if a database role lacks a right. Only the operator can grant it. */
export const lacksRight = makeError(500, "missing_privilege", {
  message: "This service is not set up completely.",
  hint: "Send the X-Request-Id to the operator, who can read in the log what is missing.",
});

/** Sent with every response: forbids caching, framing, content sniffing and Referer headers. */
export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export function sendError(reply: FastifyReply, { status, headers, body }: ErrorResponse): FastifyReply {
  return reply
    .code(status)
    .headers({ ...securityHeaders, ...headers })
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(body));
}
