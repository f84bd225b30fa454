import { Agent, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HeaderList } from "./headers.ts";
import type { Upstream } from "./match-route.ts";

/** Shorter than what upstreams keep, so that a request rarely meets a connection that is being closed. */
const IDLE_CONNECTION_MS = 10_000;
/** As Kong's nginx has it: scripts/stack/kong.ts. */
const repeatMilliseconds = 1_000;
const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"]);

export interface Outgoing {
  upstream: Upstream;
  method: string;
  /** With query. */
  path: string;
  /** With `Content-Length` or `Transfer-Encoding` if and only if there is a body (buildUpstreamHeaders). */
  headers: HeaderList;
  /** A body that was read before; without it the client's, as it streams in. */
  body: Buffer | undefined;
}

/** Why there is no response, as HTTP. */
export class ForwardError extends Error {
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ForwardError";
    this.status = status;
  }
}

/**
 * Connections to upstreams, kept open between requests. One that says anything while nobody asks is out of step, and is
 * closed: its next words would be taken for the answer to someone else's request.
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
 * Sends a request with the client's body as it streams in, and returns the response once its head is there.
 * Tried again as often as the service says, within a second of the first try, while nothing was lost by trying: the
 * connection was refused, or the method may be repeated, and there is no body. Ends when the client goes away.
 * @throws ForwardError 502, 503 (no such host) or 504.
 */
export async function forwardRequest(
  client: IncomingMessage,
  clientResponse: ServerResponse,
  outgoing: Outgoing,
  agent: Agent,
): Promise<IncomingMessage> {
  const hasBody = outgoing.body !== undefined || hasBodyOf(client);
  const repeatUntil = performance.now() + repeatMilliseconds;
  for (let failures = 0; ; ) {
    const attempt = sendOnce(client, clientResponse, outgoing, agent, hasBody);
    try {
      return await attempt.response;
    } catch (error) {
      const { connected, reused } = attempt.state;
      const mayRepeat = !hasBody && (!connected || REPEATABLE.has(outgoing.method));
      const isFinal =
        performance.now() > repeatUntil || (error instanceof ForwardError && error.status === 503);
      if (clientResponse.destroyed || !mayRepeat || isFinal) throw error;
      // As in nginx, a kept connection that turns out to be closed is not counted as a try.
      if (
        !(reused && error instanceof ForwardError && error.status === 502) &&
        ++failures > outgoing.upstream.retries
      ) {
        throw error;
      }
    }
  }
}

function sendOnce(
  client: IncomingMessage,
  clientResponse: ServerResponse,
  { upstream, method, path, headers, body }: Outgoing,
  agent: Agent,
  hasBody: boolean,
) {
  const state = { connected: false, reused: false };
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request({
      agent,
      host: upstream.host,
      port: upstream.port,
      method,
      path,
      headers: headers.flat(),
      // PostgREST repeats the URL in Content-Location.
      maxHeaderSize: 131_072,
    });
    const cancel = () => outgoing.destroy();
    clientResponse.once("close", cancel);
    outgoing.once("close", () => clientResponse.off("close", cancel));
    const fail = (error: ForwardError) => {
      reject(error);
      client.unpipe(outgoing);
      client.resume();
      outgoing.destroy(error);
    };
    // A process that is busy hears of its connection after the timer's time: what has come is looked at first.
    const connecting = setTimeout(
      () => setImmediate(() => state.connected || fail(timeout())),
      upstream.connectTimeout,
    );

    outgoing.once("socket", (socket) => {
      const onConnect = () => {
        state.connected = true;
        clearTimeout(connecting);
        outgoing.setTimeout(hasBody ? upstream.writeTimeout : upstream.readTimeout);
      };
      state.reused = outgoing.reusedSocket;
      if (socket.connecting) socket.once("connect", onConnect);
      else onConnect();
    });
    outgoing.once("finish", () => outgoing.setTimeout(upstream.readTimeout));
    outgoing.once("response", (response) => {
      outgoing.removeAllListeners("timeout");
      resolve(response);
      outgoing.on("timeout", () => {
        // A client that reads slowly is not an upstream that writes slowly.
        if (response.isPaused() || response.readableLength > 0) outgoing.setTimeout(upstream.readTimeout);
        else response.destroy(timeout());
      });
    });
    outgoing.on("timeout", () => fail(timeout()));
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(connecting);
      fail(
        error.code === "ENOTFOUND" ? new ForwardError(503, "name resolution failed", error) : refused(error),
      );
    });

    if (body !== undefined) outgoing.end(body);
    else if (hasBody) client.pipe(outgoing);
    else outgoing.end();
  });
  return { response, state };
}

/** Whether the client sends a body, by what Node's parser took for its framing. */
export function hasBodyOf({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

const timeout = () => new ForwardError(504, "The upstream server is timing out");
const refused = (cause: Error) =>
  new ForwardError(502, "An invalid response was received from the upstream server", cause);
