import type { Readable } from "node:stream";
import type { Headers } from "./headers.ts";

/** A request, as plugins read and change it. */
export interface Exchange {
  /** The gateway's ID for the request (X-Kong-Request-Id). Clients cannot choose it. */
  readonly id: string;
  readonly method: string;
  /** The path and query string as sent. */
  readonly target: string;
  /** The path as Kong normalizes it before routing. */
  readonly path: string;
  /** The path as sent. */
  readonly rawPath: string;
  /** Without "?". */
  query: string;
  /** The client's IP address, even if the request came through trusted proxies. */
  readonly address: string;
  /** Headers for the upstream. */
  readonly headers: Headers;
  /** Headers that plugins add to the response, whatever it is. */
  readonly responseHeaders: Headers;
  /** Aborts when the client has left. */
  readonly left: AbortSignal;
  /** Reads the body. Rejects with a Refusal if it is too long or too slow. */
  readonly readBody: () => Promise<Buffer>;
  /** Replaces the upstream's host and port. */
  upstream?: string | undefined;
  /** Replaces the service's read_timeout, in milliseconds. */
  readTimeout?: number | undefined;
  /** The path for the log; unset if the path may contain a key. */
  loggedPath?: string | undefined;
}

/** A response on its way to the client. */
export interface Reply {
  /** As in Kong: the upstream, a plugin or the router, or the gateway after an error. */
  readonly source: "service" | "exit" | "error";
  status: number;
  readonly headers: Headers;
  /** Bytes if the gateway wrote the body. */
  body: Readable | Buffer;
}

/** Returns what the client gets in place of a part of the body. */
export type BodyFilter = (chunk: Buffer, isLast: boolean) => Buffer;

/** A configured plugin, with a method for each of Kong's phases. */
export interface Plugin {
  name: string;
  /** As in Kong: the highest runs first. */
  priority: number;
  /** Runs before a route is chosen. If it returns a response, the request goes no further. */
  rewrite?(exchange: Exchange): Reply | undefined;
  /** Runs before the request is forwarded. If it returns a response, the request is not forwarded. */
  access?(exchange: Exchange): Promise<Reply | undefined> | Reply | undefined;
  /** Runs before the response is sent. Returns a function if the plugin changes the body. */
  filterResponse?(exchange: Exchange, reply: Reply): BodyFilter | undefined;
  /** Runs when the request is over. */
  finish?(exchange: Exchange): void;
}
