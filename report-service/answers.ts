import type { FastifyReply } from "fastify";

/** An answer that tells nothing about the request it answers. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: { code: string; message: string; details: string | null; hint: string | null };
}

/** For a token that is unknown, spent, expired or malformed, for a file that is not there, for any other path. */
export const notFound: Answer = {
  status: 404,
  body: {
    code: "download_not_found",
    message: "There is nothing to download here.",
    details: "A download link works once, and for one minute.",
    hint: "Request access to the file again to get a new link.",
  },
};

export const tokenMissing: Answer = {
  status: 401,
  headers: { "www-authenticate": 'OneTimeToken realm="report"' },
  body: {
    code: "token_missing",
    message: "A one-time token is missing.",
    details: "The token is the last part of the path: the access_uuid.",
    hint: "Request access to the file to get one.",
  },
};

/** For a signed address of which any part was changed. */
export const addressRefused: Answer = {
  status: 403,
  body: {
    code: "address_refused",
    message: "This address is not one that was signed here.",
    details: "A signed address works as it is, for less than a minute.",
    hint: "Request access to the file again to get a new link.",
  },
};

/** What an unknown target gets: an address that was signed and then changed is refused, whatever part it was. */
export const answerUnknown = (target = ""): Answer => (target.includes("X-Amz-") ? addressRefused : notFound);

export const methodNotAllowed: Answer = {
  status: 405,
  headers: { allow: "GET" },
  body: {
    code: "method_not_allowed",
    message: "Only GET is answered here.",
    details: null,
    hint: null,
  },
};

export const unavailable: Answer = {
  status: 503,
  headers: { "retry-after": "5" },
  body: {
    code: "temporarily_unavailable",
    message: "The file cannot be fetched at this moment.",
    details: "The token was not used up.",
    hint: "Try the same link again in a few seconds.",
  },
};

/** For a token that the database may have spent before it went away. */
export const uncertain: Answer = {
  ...unavailable,
  body: {
    ...unavailable.body,
    details: "The token may have been used up.",
    hint: "Try the same link again in a few seconds. If it is not there, request access to the file again.",
  },
};

export const failed: Answer = {
  status: 500,
  body: {
    code: "internal_error",
    message: "Something went wrong in this service.",
    details: null,
    hint: null,
  },
};

/** Sent with everything: nothing here is to be cached, framed, guessed at or passed on. */
export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer): FastifyReply {
  return reply
    .code(status)
    .headers({ ...securityHeaders, ...headers })
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(body));
}
