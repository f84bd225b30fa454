import type { IncomingMessage, ServerResponse } from "node:http";
import { ConfigError } from "./config-error.ts";
import { EMPTY_CONFIG, hashDocument, loadConfig, parseConfigText } from "./declarative-config.ts";
import type { ProxyContext } from "./proxy.ts";

/** Types that a web page cannot send without asking first, so that none can reach a developer's gateway. */
const JSON_TYPES = new Set(["application/json"]);
const YAML_TYPES = new Set(["text/yaml", "text/x-yaml", "application/yaml", "application/x-yaml"]);

/**
 * The part of Kong's admin and status APIs that a DB-less gateway needs: `GET /status`, `POST /config`,
 * `GET /status/ready` (200 once there is a configuration) and `GET /metrics`. As the project's other services, it has
 * `/healthz` and `/readyz`, too.
 * A new document is in force for the next request; one that is refused leaves the old one in force.
 */
export async function handleAdminRequest(
  context: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://admin");
  if (url.pathname === "/status" && request.method === "GET") {
    return sendJson(response, 200, { configuration_hash: context.config.hash });
  }
  if (url.pathname === "/healthz" && request.method === "GET") {
    return sendJson(response, 200, { status: "ok" });
  }
  if ((url.pathname === "/status/ready" || url.pathname === "/readyz") && request.method === "GET") {
    const isReady = context.config !== EMPTY_CONFIG;
    return sendJson(response, isReady ? 200 : 503, { message: isReady ? "ready" : "no configuration" });
  }
  if (url.pathname === "/metrics" && request.method === "GET") {
    const { registry } = context.metrics;
    response.writeHead(200, { "Content-Type": registry.contentType }).end(await registry.metrics());
    return;
  }
  if (url.pathname !== "/config") return sendJson(response, 404, { message: "Not found" });
  if (request.method !== "POST") return sendJson(response, 405, { message: "Method not allowed" });

  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (!JSON_TYPES.has(type) && !YAML_TYPES.has(type)) {
    request.resume();
    return sendJson(response, 415, { message: "expected content-type application/json or text/yaml" });
  }
  try {
    const document = readDocument(await readBody(request), JSON_TYPES.has(type));
    if (url.searchParams.get("check_hash") === "1" && hashDocument(document) === context.config.hash) {
      response.writeHead(304).end();
      return;
    }
    context.config = loadConfig(document);
    sendJson(response, 201, { configuration_hash: context.config.hash });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    sendJson(response, 400, describeRefusal(error));
  }
}

/** In JSON the document may also stand as text under `config`. */
function readDocument(text: string, isJson: boolean): unknown {
  if (!isJson) return parseConfigText(text);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new ConfigError([{ path: "", message: "invalid JSON" }], { cause: error });
  }
  const config = typeof body === "object" && body !== null && "config" in body ? body.config : undefined;
  return typeof config === "string" ? parseConfigText(config) : body;
}

/** Kong's answer to a document that it refuses. */
function describeRefusal(error: ConfigError): object {
  return {
    message: `declarative config is invalid: ${error.problems.map((it) => `${it.path}: ${it.message}`).join("; ")}`,
    name: "invalid declarative configuration",
    code: 14,
    fields: Object.fromEntries(error.problems.map((it) => [it.path, it.message])),
    flattened_errors: error.problems.map((it) => ({
      errors: [{ type: "field", field: it.path, message: it.message }],
    })),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
}
