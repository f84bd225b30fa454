import type { HeaderList } from "./headers.ts";
import { getHeader, getHeaders } from "./headers.ts";

/** An answer that the gateway gives itself. */
export interface Answer {
  status: number;
  headers: HeaderList;
  body: string;
}

/** Kong's `kong.response.error`: in the type the client accepts, JSON unless it asks for another. */
export function answerError(
  request: { requestId: string; request: HeaderList },
  status: number,
  message: string,
  headers: HeaderList = [],
): Answer {
  const accept = getHeaders(request.request, "accept");
  return formatError(request.requestId, status, message, accept.length ? accept.join(",") : "*/*", headers);
}

/** What nginx answers for Kong (502, 503, 504, 400 …): plain text unless the client says what it accepts. */
export function answerProxyError(
  request: { requestId: string; request: HeaderList },
  status: number,
  message: string,
): Answer {
  const accept = getHeaders(request.request, "accept").join(",");
  const type = accept || getHeader(request.request, "content-type") || "text/plain";
  return formatError(request.requestId, status, message, type, []);
}

export function answerJson(status: number, body: object): Answer {
  return { status, headers: [["Content-Type", TYPES.json]], body: JSON.stringify(body) };
}

const TYPES = {
  json: "application/json; charset=utf-8",
  html: "text/html; charset=utf-8",
  plain: "text/plain; charset=utf-8",
  xml: "application/xml; charset=utf-8",
};

const TYPE_OF_MEDIA: Record<string, keyof typeof TYPES> = {
  "application/json": "json",
  "application/*": "json",
  "*/*": "json",
  "text/html": "html",
  "text/plain": "plain",
  "text/*": "plain",
  "application/xml": "xml",
};

/** Kong's `get_response_type`: the first of the highest quality decides; what is not known means JSON. */
function chooseType(accept: string): keyof typeof TYPES {
  let chosen: keyof typeof TYPES = "json";
  let best = 0;
  for (const entry of accept.split(",")) {
    const match = /^([a-z0-9][\w.+!#$&^-]*|\*)\/([a-z0-9][\w.+!#$&^-]*|\*)/i.exec(entry.trim());
    if (!match) continue;
    const quality = Number(/;\s*q=([\d.]+)/i.exec(entry)?.[1] ?? 1);
    if (quality <= best) continue;
    best = quality;
    chosen = TYPE_OF_MEDIA[match[0].toLowerCase()] ?? "json";
  }
  return chosen;
}

function formatError(
  id: string,
  status: number,
  message: string,
  accept: string,
  headers: HeaderList,
): Answer {
  const type = chooseType(accept);
  return { status, headers: [["Content-Type", TYPES[type]], ...headers], body: TEMPLATES[type](message, id) };
}

const TEMPLATES: Record<keyof typeof TYPES, (message: string, id: string) => string> = {
  json: (message, id) =>
    `{\n  "message":${JSON.stringify(message)},\n  "request_id":${JSON.stringify(id)}\n}`,
  plain: (message, id) => `${message}\nrequest_id: ${id}\n`,
  html: (message, id) => `<!doctype html>
<html>
  <head>
    <meta charset="utf-8">
    <title>Error</title>
  </head>
  <body>
    <h1>Error</h1>
    <p>${message}.</p>
    <p>request_id: ${id}</p>
  </body>
</html>
`,
  xml: (message, id) => `<?xml version="1.0" encoding="UTF-8"?>
<error>
  <message>${message}</message>
  <requestid>${id}</requestid>
</error>
`,
};
