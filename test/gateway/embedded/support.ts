import { once } from "node:events";
import { readFile } from "node:fs/promises";
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { parse } from "yaml";
import {
  type EmbeddedGateway,
  type EmbeddedGatewayOptions,
  startEmbeddedGateway,
} from "../../../gateway/embedded/start-embedded-gateway.ts";

export const silent = pino({ level: "silent" });
/** The function that hashes keys, as the conformance document has it. */
export const LUA: string = parse(
  await readFile(new URL("../kong-conformance/kong.yml", import.meta.url), "utf8"),
).services[0].plugins[0].config.access[0];

/** A promise that something outside of it resolves. */
export function createSignal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

export type Plugins = { name: string; config?: object; instance_name?: string }[];

/** One service with one route; strip_path as Kong's default unless `route` says otherwise. */
export function documentFor(url: string, plugins: Plugins = [], route: object = {}) {
  return {
    _format_version: "3.0",
    services: [{ name: "api", url, retries: 0, routes: [{ name: "all", paths: ["/"], ...route }], plugins }],
  };
}

/** @param onEnd is told how it is closed: a test's own function, where tests run at the same time */
export async function startGateway(
  options: Partial<EmbeddedGatewayOptions>,
  onEnd: typeof onTestFinished = onTestFinished,
): Promise<EmbeddedGateway> {
  const proxy = { host: "127.0.0.1", port: 0 };
  const gateway = await startEmbeddedGateway({ proxy, logger: silent, ...options });
  onEnd(() => gateway.close());
  return gateway;
}

export async function startUpstream(
  listener: RequestListener,
  onEnd: typeof onTestFinished = onTestFinished,
): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const admin = { host: "127.0.0.1", port: 0, token: "the token of this test" };

/** Asks the Admin API with its token. */
export async function askAdmin(
  gateway: EmbeddedGateway,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = { "content-type": "application/json" },
) {
  const response = await fetch(`${gateway.adminUrl}${path}`, {
    method,
    headers: { "kong-admin-token": admin.token, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
}

/** The IDs of one service, its route and its plugin. */
export const ids = {
  service: "11111111-1111-4111-8111-111111111111",
  route: "22222222-2222-4222-8222-222222222222",
  plugin: "33333333-3333-4333-8333-333333333333",
};

/** One service with one route, by the Admin API; both put again are the same. */
export async function putService(gateway: EmbeddedGateway, url: string, route: object = {}) {
  const service = { id: ids.service };
  const answers = [
    await askAdmin(gateway, "PUT", `/services/${ids.service}`, { name: "api", url, retries: 0 }),
    await askAdmin(gateway, "PUT", `/routes/${ids.route}`, { name: "all", paths: ["/"], service, ...route }),
  ];
  return answers.map(({ status }) => status);
}

/** A plugin of that service. */
export async function putPlugin(gateway: EmbeddedGateway, name: string, config: object) {
  const body = { name, config, service: { id: ids.service } };
  return await askAdmin(gateway, "PUT", `/plugins/${ids.plugin}`, body);
}

export function openRequest(
  gateway: EmbeddedGateway,
  path: string,
  options: RequestOptions = {},
): ClientRequest {
  const { hostname, port } = new URL(gateway.proxyUrl);
  return request({ host: hostname, port, path, agent: false, ...options });
}

export async function open(
  gateway: EmbeddedGateway,
  path: string,
): Promise<[ClientRequest, IncomingMessage]> {
  const client = openRequest(gateway, path);
  client.end();
  const [response] = (await once(client, "response")) as [IncomingMessage];
  return [client, response];
}

export async function send(
  gateway: EmbeddedGateway,
  path: string,
  options: RequestOptions = {},
  body?: string,
) {
  const client = openRequest(gateway, path, options);
  client.end(body);
  const [response] = (await once(client, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await readAll(response) };
}

/** For what node:http would not send. */
export async function sendRaw(gateway: EmbeddedGateway, target: string) {
  const { hostname, port } = new URL(gateway.proxyUrl);
  const socket = connect(Number(port), hostname);
  socket.end(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  const body = Buffer.concat(await socket.toArray());
  return { status: Number(body.toString().split(" ")[1]), body };
}

export async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
