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

/** For a token that is unknown, redeemed, expired or malformed, and for a file that does not exist. */
export const notFound = makeError(404, "download_not_found", {
  message: "There is nothing to download here.",
  details: "A download link works once, and only until it expires.",
  hint: "Request access to the file again to get a new link.",
});

const noSuchPage = makeError(404, "no_such_page", {
  message: "There is no such page.",
  hint: "Check the URL, or start from the home page.",
});

export const tokenMissing = makeError(
  401,
  "token_missing",
  {
    message: "The URL has no one-time token.",
    details: "The token is the access_uuid from request_file_access. Put it at the end of the path.",
    hint: "To get a token, request access to the file.",
  },
  { "www-authenticate": 'OneTimeToken realm="report"' },
);

/** For a signed URL that has expired or was changed. */
export const invalidLink = makeError(403, "download_link_invalid", {
  message: "This download link has expired or was altered.",
  details: "A link works for less than a minute, and only if it is not changed.",
  hint: "Request the report again to get a new link.",
});

export const methodNotAllowed = makeError(
  405,
  "method_not_allowed",
  { message: "This service is read-only.", hint: "Use GET." },
  { allow: "GET" },
);

const tryAgain = "Try the same link again in a few seconds.";
export function makeUnavailable(details: string | null = null, hint = tryAgain): ErrorResponse {
  const message = "The file cannot be fetched right now.";
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

export const filesNotLive = makeError(
  503,
  "files_not_current",
  {
    message: "The bulk files do not belong to the live data set.",
    details: "Another data set was published or rolled back. Its files are not available yet.",
    hint: "Try again in a few seconds. If this lasts, use the API, or ask the operator to refresh with PUBLIC_DATA set.",
  },
  { "retry-after": "10" },
);

export const failed = makeError(500, "internal_error", {
  message: "This service failed.",
  hint: "Try again later. If it fails again, send the X-Request-Id to the operator.",
});

/** The response for a path without a route: 403 if it looks like a signed URL that was changed, or else 404. */
export function unknownPathError(target = ""): ErrorResponse {
  if (/X-Amz-|signature=/.test(target)) return invalidLink;
  return target.startsWith("/dissemination/report/pdf/ota/") ? notFound : noSuchPage;
}

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
