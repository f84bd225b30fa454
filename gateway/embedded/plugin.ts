import type { Headers } from "./headers.ts";

/** A request and its response, as plugins read and change them. */
export interface Exchange {
  /** The gateway's ID for the request (X-Kong-Request-Id). Clients cannot choose it. */
  readonly id: string;
  readonly method: string;
  /** Normalized as Kong does before routing. */
  readonly path: string;
  /** As sent. */
  readonly rawPath: string;
  /** Without "?", unchanged. */
  query: string;
  /** The client's IP address, even if the request came through trusted proxies. */
  readonly address: string;
  /** Headers for the upstream. */
  readonly headers: Headers;
  /** Headers for every response to this request. */
  readonly answerHeaders: Headers;
  /** Replaces the service's host and port. */
  target?: string;
  /** The path for the log; unset if the path may contain a key. */
  loggedPath?: string;
}

/** A response that a plugin sends instead of the upstream. */
export interface Answer {
  status: number;
  headers?: Headers;
  body?: string;
}

/** Where the response came from, as in Kong: the upstream, a plugin or the router, or the gateway after an error. */
export type Source = "service" | "exit" | "error";

/** A configured plugin, with a method for each of Kong's phases. */
export interface Plugin {
  name: string;
  /** As in Kong: the highest runs first. */
  priority: number;
  /** Runs before a route is chosen, for global plugins only. */
  rewrite?(exchange: Exchange): void;
  /** Runs before the request is forwarded. If it returns a response, the request is not forwarded. */
  access?(exchange: Exchange): Answer | undefined;
  /** Runs before the response is sent. Returns true to get the whole body in `filterBody`. */
  filterHeaders?(exchange: Exchange, answer: { status: number; headers: Headers; source: Source }): boolean;
  /** Returns the body to send. Each character is a byte. */
  filterBody?(exchange: Exchange, body: string): string;
  /** Runs when the request is over. */
  forget?(exchange: Exchange): void;
}
