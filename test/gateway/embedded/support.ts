import { once } from "node:events";
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
import {
  type EmbeddedGateway,
  type EmbeddedGatewayOptions,
  startEmbeddedGateway,
} from "../../../gateway/embedded/start-embedded-gateway.ts";

const silent = pino({ level: "silent" });

/** A promise that something outside of it resolves. */
export function createSignal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

export type Plugins = { name: string; config: object }[];

/** One service with one route, and plugins for both, as the text of a file like gateway/kong.yml. */
export function configFor(url: string, plugins: Plugins = [], service: object = {}): string {
  const route = { name: "all", paths: ["/"] };
  const services = [{ name: "api", url, retries: 0, routes: [route], ...service }];
  return JSON.stringify({ _format_version: "3.0", services, plugins });
}

/** @param onEnd is told how it is closed: a test's own function, where tests run at the same time */
export async function startGateway(
  options: Partial<EmbeddedGatewayOptions> & { config: string },
  onEnd: typeof onTestFinished = onTestFinished,
): Promise<EmbeddedGateway> {
  const defaults = { host: "127.0.0.1", port: 0, metricsPort: 0, env: {}, logger: silent };
  const gateway = await startEmbeddedGateway({ ...defaults, ...options });
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

export function openRequest(
  gateway: EmbeddedGateway,
  path: string,
  options: RequestOptions = {},
): ClientRequest {
  const { hostname, port } = new URL(gateway.url);
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
export async function sendRaw(gateway: EmbeddedGateway, target: string, method = "GET") {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.end(`${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, "latin1");
  const body = Buffer.concat(await socket.toArray());
  return { status: Number(body.toString().split(" ")[1]), body };
}

export async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
