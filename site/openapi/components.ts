/** Headers, parameters, answers and errors that more than one path has (README.md, Asking). */

const text = { type: "string" } as const;
const number = { type: "integer" } as const;
const header = (description: string, schema: object = text) => ({ description, schema });

export const headers = {
  ETag: header(
    "Stands for the data set, the deployed API and the key's tier. Send it as If-Match with the following pages.",
  ),
  "Data-Set": header('The data set that answered, such as "01a1fc59-…"; published="2026-11-18T10:00:00Z".'),
  "Content-Range": header(
    "Which rows these are, and how many there are if that was asked for, such as 0-19999/*.",
  ),
  "X-RateLimit-Limit-Hour": header("Requests an hour that the key may make.", number),
  "X-RateLimit-Remaining-Hour": header("What is left of them.", number),
  "RateLimit-Reset": header("Seconds until the window ends.", number),
  "Retry-After": header("Seconds after which to come back.", number),
  "X-Request-Id": header("Name it when something is to be looked up."),
  Deprecation: header("From when the version is deprecated (RFC 9745). Only where its end is announced."),
  Sunset: header("Until when the version is served at least (RFC 8594). Only where its end is announced."),
  Link: header("The page that says why, and how to move on."),
  Location: header("A signed address of the PDF, which lives for a minute or less."),
};

export type HeaderName = keyof typeof headers;
export const listHeaders = (...names: HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const query = (name: string, description: string, schema: object = text) => ({
  name,
  in: "query",
  description,
  schema,
});
const sent = (name: string, description: string, schema: object = text) => ({
  name,
  in: "header",
  description,
  schema,
});

export const parameters = {
  select: query(
    "select",
    "Columns, with commas; other tables are embedded as in report_id,general(auditee_name).",
  ),
  order: query("order", "Columns with direction, such as fac_accepted_date.desc.nullslast,report_id."),
  limit: query("limit", "Rows at most.", { type: "integer", minimum: 0, maximum: 20_000, default: 20_000 }),
  offset: query("offset", "Rows to skip.", { type: "integer", minimum: 0, default: 0 }),
  or: query("or", "Filters of which one has to hold, such as (audit_year.eq.2023,auditee_state.eq.CA)."),
  and: query("and", "Filters that all have to hold."),
  prefer: sent("Prefer", "count=exact puts the number of all rows into Content-Range.", {
    type: "string",
    examples: ["count=exact"],
  }),
  ifMatch: sent("If-Match", "The ETag of the first page: 412 if another data set has been published since."),
  ifNoneMatch: sent("If-None-Match", "An ETag: 304 if nothing has changed."),
  range: sent("Range", "Bytes of the file, such as bytes=0-65535."),
};
export const listParameters = (...names: (keyof typeof parameters)[]) =>
  names.map((name) => ({ $ref: `#/components/parameters/${name}` }));

const error = (description: string, ...names: HeaderName[]) => ({
  description,
  headers: listHeaders("X-Request-Id", ...names),
  content: { "application/json": { schema: { $ref: "#/components/schemas/error" } } },
});

export const responses = {
  notModified: {
    description: "Nothing has changed since the ETag in If-None-Match.",
    headers: listHeaders("ETag"),
  },
  badRequest: error("The query is not one that PostgREST understands, or asks for too much; hint says why."),
  unauthorized: error(
    "No key, or one that is unknown, revoked or expired; or this needs a key with Tribal access.",
  ),
  notFound: error("There is none such: no table, report, file, or link that still works."),
  notAcceptable: error("No such version; the message lists those that are served."),
  changed: error("Another data set was published since the ETag in If-Match.", "ETag"),
  outside: error("An offset, or a range, past the end."),
  tooMany: error("Over the limit.", "Retry-After"),
  failed: error("The query ran longer than the key's tier allows (code 57014), or something went wrong."),
  unreached: error("The gateway cannot reach the API behind it. Send the request again."),
  unavailable: error("The service is switched off, or a part of it is away.", "Retry-After"),
};
/** What a request to the API may get when a part behind the gateway is away. */
export const away = { 502: "unreached", 503: "unavailable", 504: "unreached" } as const;
export const listResponses = (names: Record<number, keyof typeof responses>) =>
  Object.fromEntries(
    Object.entries(names).map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );

export const errorSchema = {
  type: "object",
  description: "What went wrong, and what to do about it.",
  required: ["message"],
  properties: {
    code: text,
    message: text,
    details: { type: ["string", "null"] },
    hint: { type: ["string", "null"] },
  },
};
