import { type ErrorResponse, makeError, noSuchPage } from "../shared/web/error-responses.ts";

/** For a token that is unknown, redeemed, expired or malformed, and for a file that does not exist. */
export const notFound = makeError(404, "download_not_found", {
  message: "There is nothing to download here.",
  details: "A download link works once, and only until it expires.",
  hint: "Request access to the file again to get a new link.",
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

/** The response for a path without a route: 403 if it looks like a signed URL that was changed, or else 404. */
export function unknownPathError(target = ""): ErrorResponse {
  if (/X-Amz-|signature=/.test(target)) return invalidLink;
  return target.startsWith("/dissemination/report/pdf/ota/") ? notFound : noSuchPage;
}
