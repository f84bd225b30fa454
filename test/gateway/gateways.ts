import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { unlimitedAddresses } from "../../bench/bench-stack.ts";
import type { WireAnswer } from "../../bench/torture/send-request.ts";
import { startEmbeddedGateway } from "../../gateway/embedded/start-embedded-gateway.ts";
import type { ChildProcess } from "../../scripts/servers/child-process.ts";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";
import { startKong } from "../../scripts/stack/kong.ts";

/** A gateway, or an upstream, on a port of the loopback interface. */
export interface Started {
  url: string;
  close: () => Promise<void>;
}

export const gatewayToken = "the token of this test";
/** Real Kong, if there is one. */
export const kongProgram = process.env.KONG_BIN;

/** gateway/kong.yml, with changes for a test: texts and what to put in their place. */
export async function readKongYml(changes: Record<string, string> = {}): Promise<string> {
  const text = await readFile(path.resolve(import.meta.dirname, "../../gateway/kong.yml"), "utf8");
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`gateway/kong.yml does not have ${from}`);
    return changed.replaceAll(from, to);
  }, text);
}

export async function startEmbedded(config: string, upstream: string): Promise<Started> {
  const env = { POSTGREST_URL: upstream, GATEWAY_TOKEN: gatewayToken };
  const logger = pino({ level: "silent" });
  return await startEmbeddedGateway({
    host: "127.0.0.1",
    port: 0,
    metricsPort: 0,
    config,
    env,
    logger,
  });
}

/** Starts real Kong as `npm start -- --gateway kong` does. */
export async function startRealKong(program: string, config: string, upstream: string): Promise<Started> {
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-kong-"));
  await chmod(directory, 0o755);
  await writeFile(path.join(directory, "kong.yml"), config);
  const children: ChildProcess[] = [];
  const close = async () => {
    for (const child of children) await child.stop(5000);
    await rm(directory, { recursive: true, force: true });
  };
  const options = {
    program,
    prefix: path.join(directory, "kong"),
    port: await findFreePort(),
    metricsPort: await findFreePort(),
    config: path.join(directory, "kong.yml"),
    postgrestUrl: upstream,
    gatewayToken,
    trustedIps: "",
    environment: { ...process.env, ...unlimitedAddresses },
  };
  try {
    return { url: await startKong(options, (child) => children.push(child)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

export async function startUpstream(listener: RequestListener): Promise<Started> {
  const server = createServer({ maxHeaderSize: 1 << 18 }, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Named by the gateway's software, or of one connection, or of the moment. */
const LEFT_OUT =
  /^(date|server|via|connection|keep-alive|transfer-encoding|content-length|x-kong-request-id)$/;
const SECONDS = /^(ratelimit-reset|retry-after)$/;
const REQUEST_ID = /\b[0-9a-f]{32}\b/g;

/** What a client can tell gateways apart by, and PostgREST, if the answer says what that was asked. */
export function describeAnswer({ status, headers, body }: WireAnswer, url: string): object {
  const text = body.replace(REQUEST_ID, "<request id>").replaceAll(`["${new URL(url).port}"]`, '["<port>"]');
  return { status, headers: describeHeaders(headers), body: describeBody(text) };
}

function describeHeaders(headers: WireAnswer["headers"]): object {
  const entries = Object.entries(headers).flatMap(([name, value]) => {
    const text = SECONDS.test(name) ? "<seconds>" : String(value).replace(REQUEST_ID, "<request id>");
    return LEFT_OUT.test(name) ? [] : [[name, text]];
  });
  return Object.fromEntries(entries.sort());
}

function describeBody(text: string): unknown {
  try {
    const { headers, ...rest } = JSON.parse(text);
    // The upstream's port changes as well.
    return headers === undefined
      ? rest
      : { ...rest, headers: { ...describeHeaders(headers), host: "<host>" } };
  } catch {
    return text;
  }
}

/** What a gateway has made of a request. A character of the body is a byte. */
export async function describeRequest(incoming: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of incoming.setEncoding("latin1")) body += chunk;
  const { method, url, headersDistinct: headers } = incoming;
  return JSON.stringify({ method, url, headers, body });
}
