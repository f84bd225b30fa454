import type { Headers } from "./headers.ts";

/** One request on its way through the plugins. */
export interface Exchange {
  /** Kong's own ID of the request, which no client chooses. */
  readonly id: string;
  readonly method: string;
  /** Normalized as Kong does before it chooses a route. */
  readonly path: string;
  /** As sent. */
  readonly rawPath: string;
  /** Without "?", byte for byte. */
  query: string;
  /** The address of the client, behind trusted hops. */
  readonly address: string;
  /** What the upstream will be sent. */
  readonly headers: Headers;
  /** What every answer to this request will carry. */
  readonly answerHeaders: Headers;
  /** Host and port to ask instead of the service's. */
  target?: string;
  /** The path, if it cannot hold a key. */
  loggedPath?: string;
}

/** An answer of the gateway's own. */
export interface Answer {
  status: number;
  headers?: Headers;
  body?: string;
}

/** As in Kong: the upstream answered, a plugin or the router did, or something went wrong. */
export type Source = "service" | "exit" | "error";

/** A plugin with its configuration, phase by phase. */
export interface Plugin {
  name: string;
  /** Kong's; the highest runs first. */
  priority: number;
  /** Before a route is chosen; global plugins only. */
  rewrite?(exchange: Exchange): void;
  /** Before the upstream is asked; an answer ends the request. */
  access?(exchange: Exchange): Answer | undefined;
  /** Before any answer is sent. True holds the body back until it is whole, for `filterBody`. */
  filterHeaders?(exchange: Exchange, answer: { status: number; headers: Headers; source: Source }): boolean;
  /** The body that is sent. One character is a byte. */
  filterBody?(exchange: Exchange, body: string): string;
  /** The request is over. */
  forget?(exchange: Exchange): void;
}
