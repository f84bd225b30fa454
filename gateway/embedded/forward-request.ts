import { Agent, type IncomingMessage, type RequestOptions, request, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Service } from "./read-config.ts";

/** Shorter than the upstreams' keep-alive timeouts, so that a request rarely reuses a connection that is closing. */
const IDLE_CONNECTION_MS = 10_000;
/** Like PROXY_NEXT_UPSTREAM_TIMEOUT in gateway/kong.env. */
const REPEAT_MS = 1_000;
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS"]);

/** The upstream sent no complete response. The client gets `status`, unless its response has already started. */
export class ForwardError extends Error {
  readonly status: number;

  constructor(status: number, cause?: Error) {
    super(cause?.message ?? "The upstream did not answer in time.", { cause });
    this.status = status;
  }
}

/**
 * Keeps connections to upstreams open between requests. A connection that receives data between requests is closed,
 * because the data would become the response to another client's request.
 */
export function createConnectionPool(): Agent {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS, maxFreeSockets: 256 });
  const distrust = function (this: Socket) {
    this.destroy();
  };
  const { keepSocketAlive, reuseSocket } = agent;
  agent.keepSocketAlive = (socket) => {
    socket.once("data", distrust);
    return keepSocketAlive.call(agent, socket);
  };
  agent.reuseSocket = (socket, request) => {
    (socket as Socket).off("data", distrust);
    reuseSocket.call(agent, socket, request);
  };
  return agent;
}

/**
 * Sends a request and returns the response once its headers arrive. Retries a request without a body, up to
 * `service.retries` times within a second, if no connection was made or the method is safe. Stops if the client leaves.
 * @throws ForwardError 502, 503 (no such host) or 504
 */
export async function forwardRequest(
  client: ServerResponse,
  service: Service,
  options: RequestOptions,
  body: Buffer,
): Promise<IncomingMessage> {
  const repeatUntil = performance.now() + REPEAT_MS;
  for (let failures = 0; ; ) {
    const state = { isConnected: false, isReused: false };
    try {
      return await sendOnce(client, service, options, body, state);
    } catch (error) {
      const mayRepeat = body.length === 0 && (!state.isConnected || REPEATABLE.has(options.method ?? ""));
      const status = error instanceof ForwardError ? error.status : 503;
      if (client.destroyed || !mayRepeat || status === 503 || performance.now() > repeatUntil) throw error;
      // Like nginx, does not count an attempt on a reused connection that the upstream has closed.
      if (!(state.isReused && status === 502) && ++failures > service.retries) throw error;
    }
  }
}

function sendOnce(
  client: ServerResponse,
  service: Service,
  options: RequestOptions,
  body: Buffer,
  state: { isConnected: boolean; isReused: boolean },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(options);
    const cancel = () => outgoing.destroy();
    client.once("close", cancel);
    outgoing.once("close", () => client.off("close", cancel));
    const fail = (error: ForwardError) => {
      reject(error);
      outgoing.destroy(error);
    };
    // In a busy process, the timer can fire before the event of a finished connection, so let that event run first.
    const expire = () => setImmediate(() => state.isConnected || fail(new ForwardError(504)));
    const connecting = setTimeout(expire, service.connect_timeout);
    outgoing.once("socket", (socket) => {
      state.isReused = outgoing.reusedSocket;
      const onConnect = () => {
        state.isConnected = true;
        clearTimeout(connecting);
        outgoing.setTimeout(service.read_timeout);
      };
      if (socket.connecting) socket.once("connect", onConnect);
      else onConnect();
    });
    outgoing.once("response", (response) => {
      outgoing.removeAllListeners("timeout");
      resolve(response);
      outgoing.on("timeout", () => {
        // Waits again if the client is slow to read, rather than the upstream slow to write.
        if (response.isPaused() || response.readableLength > 0) outgoing.setTimeout(service.read_timeout);
        else response.destroy(new ForwardError(504));
      });
    });
    outgoing.on("timeout", () => fail(new ForwardError(504)));
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(connecting);
      fail(new ForwardError(error.code === "ENOTFOUND" ? 503 : 502, error));
    });
    outgoing.end(body.length > 0 ? body : undefined);
  });
}
