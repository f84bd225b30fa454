import { Agent, type IncomingMessage, type RequestOptions, request, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Service } from "./route.ts";

/** Shorter than what upstreams keep, so that a request rarely meets a connection that is being closed. */
const IDLE_CONNECTION_MS = 10_000;
/** PROXY_NEXT_UPSTREAM_TIMEOUT of gateway/kong.env. */
const REPEAT_MS = 1_000;
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS"]);

/** Why there is no response, as HTTP. */
export class ForwardError extends Error {
  readonly status: number;

  constructor(status: number, cause?: Error) {
    super(cause?.message ?? "The upstream did not answer in time.", { cause });
    this.name = "ForwardError";
    this.status = status;
  }
}

/**
 * Connections to upstreams, kept open between requests. One that says anything while nobody asks is out of step, and is
 * closed: its next words would be taken for the answer to another client's request.
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
 * Sends a request and returns the response once its head is there. Tried again as often as the service says, within a second
 * of the first try, while nothing was lost by trying: the connection was refused, or the method may be repeated, and there is
 * no body. Ends when the client goes away.
 * @throws ForwardError 502, 503 (no such host) or 504.
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
      // As in nginx, a kept connection that turns out to be closed is not counted as a try.
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
    // A process that is busy hears of its connection after the timer's time: what has come is looked at first.
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
        // A client that reads slowly is not an upstream that writes slowly.
        if (response.isPaused() || response.readableLength > 0) outgoing.setTimeout(service.read_timeout);
        else response.destroy(new ForwardError(504));
      });
    });
    outgoing.on("timeout", () => fail(new ForwardError(504)));
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(connecting);
      fail(new ForwardError(error.code === "ENOTFOUND" ? 503 : 502, error));
    });
    outgoing.end(body);
  });
}
