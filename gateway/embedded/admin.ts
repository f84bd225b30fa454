import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isRecord } from "../entity.ts";
import { type EntityKind, entityKinds, type Fields } from "../entity-defaults.ts";
import { EntityError } from "./entity-error.ts";
import type { EntityStore } from "./entity-store.ts";
import { listPage } from "./list-page.ts";
import type { ProxyContext } from "./proxy.ts";

export interface AdminContext extends Pick<ProxyContext, "metrics"> {
  store: EntityStore;
  /** Who changes anything must show it in the header Kong-Admin-Token. */
  token: string;
}

interface Target {
  kind: EntityKind;
  name: string | undefined;
  /** The consumer that a credential is asked for below. */
  consumer: string | undefined;
}

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?$/;
/** Nothing that is put here has more than some kilobytes. */
const bodyLimit = 1 << 20;

/**
 * The part of Kong's Admin API with a database that the sync uses: `GET` of lists and entities, `PUT`, `PATCH` and
 * `DELETE`, all in memory. Whoever reaches it decides what every key may do: it asks for its token, and takes nothing that
 * a web page can send (any `Host` but its own is refused). `/status`, `/status/ready` (200 once there is a route) and
 * `/metrics` need no token, nor do `/healthz` and `/readyz`, which the project's other services have.
 */
export async function handleAdminRequest(
  context: AdminContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!loopback.test(request.headers.host ?? "")) return sendJson(response, 403, { message: "Forbidden" });
  const url = new URL(request.url ?? "/", "http://admin");
  if (request.method === "GET" && (await answerState(context, url.pathname, response))) return;
  if (!isAuthorized(request, context.token)) return sendJson(response, 401, { message: "Unauthorized" });
  try {
    const [status, body] = answerEntity(context.store, request, url, await readBody(request));
    if (body === undefined) response.writeHead(status).end();
    else sendJson(response, status, body);
  } catch (error) {
    if (!(error instanceof EntityError)) throw error;
    sendJson(response, error.status, error.body);
  }
}

async function answerState(
  { store, metrics }: AdminContext,
  path: string,
  response: ServerResponse,
): Promise<boolean> {
  if (path === "/status") {
    sendJson(response, 200, { database: { reachable: true }, memory: {}, server: {} });
  } else if (path === "/healthz") {
    sendJson(response, 200, { status: "ok" });
  } else if (path === "/status/ready" || path === "/readyz") {
    const isReady = store.config().routes.length > 0;
    sendJson(response, isReady ? 200 : 503, { message: isReady ? "ready" : "no route" });
  } else if (path === "/metrics") {
    response
      .writeHead(200, { "Content-Type": metrics.registry.contentType })
      .end(await metrics.registry.metrics());
  } else return false;
  return true;
}

function answerEntity(
  store: EntityStore,
  request: IncomingMessage,
  url: URL,
  given: Fields | undefined,
): [status: number, body?: Fields] {
  if (url.pathname === "/config") {
    const message = "this endpoint is only available when Kong is configured to not use a database";
    throw new EntityError(400, { message });
  }
  const target = readTarget(url.pathname);
  if (target === undefined) throw new EntityError(404, { message: "Not found" });
  const { kind, name, consumer } = target;
  if (name === undefined) {
    if (request.method !== "GET") throw new EntityError(405, { message: "Method not allowed" });
    return [200, listPage(url, store.list(kind))];
  }
  const owner = consumer === undefined ? undefined : store.get("consumers", consumer);
  const existing = store.get(kind, name);
  if (consumer !== undefined && owner === undefined) throw new EntityError(404, { message: "Not found" });
  const reference = owner === undefined ? {} : { consumer: { id: owner.id } };
  switch (request.method) {
    case "GET":
      if (existing === undefined) throw new EntityError(404, { message: "Not found" });
      return [200, existing];
    case "PUT":
      return [200, store.put(kind, name, { ...given, ...reference })];
    case "PATCH":
      if (existing === undefined) throw new EntityError(404, { message: "Not found" });
      return [200, store.put(kind, name, { ...mergeFields(existing, given ?? {}), ...reference })];
    case "DELETE":
      store.remove(kind, name);
      return [204];
    default:
      throw new EntityError(405, { message: "Method not allowed" });
  }
}

function readTarget(path: string): Target | undefined {
  const [first = "", name, below, credential, ...more] = path.slice(1).split("/").map(decodeURIComponent);
  const kind = entityKinds.find((it) => it === first);
  if (kind === undefined || more.length > 0) return undefined;
  if (below === undefined) return { kind, name, consumer: undefined };
  if (kind !== "consumers" || below !== "key-auth" || credential === undefined) return undefined;
  return { kind: "key-auths", name: credential, consumer: name };
}

function mergeFields(existing: Fields, given: Fields): Fields {
  const merged: Fields = { ...existing };
  for (const [name, value] of Object.entries(given)) {
    const before = existing[name];
    merged[name] = isRecord(value) && isRecord(before) ? mergeFields(before, value) : value;
  }
  return merged;
}

function isAuthorized(request: IncomingMessage, token: string): boolean {
  const given = Buffer.from(String(request.headers["kong-admin-token"] ?? ""));
  const wanted = Buffer.from(token);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

async function readBody(request: IncomingMessage): Promise<Fields | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (length > bodyLimit) throw new EntityError(413, { message: "Payload too large" });
    chunks.push(chunk as Buffer);
  }
  if (length === 0) return undefined;
  if (request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase() !== "application/json") {
    throw new EntityError(415, { message: "Unsupported Media Type" });
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    if (isRecord(body)) return body;
  } catch {
    // Refused below.
  }
  throw new EntityError(400, { message: "Cannot parse JSON body" });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" }).end(JSON.stringify(body));
}
