import type { Headers } from "./headers.ts";

/** A request while plugins handle it. */
export interface Exchange {
  /** Kong's ID of the request. Clients cannot choose it. */
  readonly id: string;
  readonly method: string;
  /** Normalized as in Kong before it chooses a route. */
  readonly path: string;
  /** As sent. */
  readonly rawPath: string;
  /** Without "?", unchanged. */
  query: string;
  /** The client's address, behind trusted proxies. */
  readonly address: string;
  /** Headers for the upstream. */
  readonly headers: Headers;
  /** Headers for every response to this request. */
  readonly answerHeaders: Headers;
  /** Replaces the service's host and port. */
  target?: string;
  /** The path, if it cannot hold a key. */
  loggedPath?: string;
}

/** A response that a plugin makes. */
export interface Answer {
  status: number;
  headers?: Headers;
  body?: string;
}

/** What answered, as in Kong: the upstream, a plugin or the router, or the gateway after an error. */
export type Source = "service" | "exit" | "error";

/** A plugin with its configuration, phase by phase. */
export interface Plugin {
  name: string;
  /** As in Kong: the highest runs first. */
  priority: number;
  /** Runs before a route is chosen, for global plugins only. */
  rewrite?(exchange: Exchange): void;
  /** Runs before the upstream is asked. An answer ends the request. */
  access?(exchange: Exchange): Answer | undefined;
  /** Runs before the response is sent. Returns true to get the whole body in `filterBody`. */
  filterHeaders?(exchange: Exchange, answer: { status: number; headers: Headers; source: Source }): boolean;
  /** Returns the body to send. Each character is a byte. */
  filterBody?(exchange: Exchange, body: string): string;
  /** Runs when the request is over. */
  forget?(exchange: Exchange): void;
}
