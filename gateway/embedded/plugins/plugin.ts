import type { RateLimiterMemory } from "rate-limiter-flexible";
import type { z } from "zod";
import type { Answer } from "../error-answers.ts";
import type { HeaderList } from "../headers.ts";

/** Where in the document a plugin stands; the names identify it across reloads. */
export interface PluginScope {
  service?: string;
  route?: string;
  consumer?: string;
}

export interface Consumer {
  /** What `X-Consumer-ID` carries: from the document, else derived from the name. */
  id(): string;
  name: string;
  username: string | undefined;
  customId: string | undefined;
  plugins: ReadonlyMap<string, PluginHandler>;
}

/** What a credential leads to. */
export interface Identity {
  consumer: Consumer;
  /** What `X-Credential-Identifier` carries. */
  credentialId(): string;
}

/** One request on its way through the plugins. */
export interface Exchange {
  readonly requestId: string;
  readonly method: string;
  readonly clientAddress: string;
  /** As Kong chooses a route by it (normalizePath). */
  readonly path: string;
  /** Without the "?", byte for byte. */
  query: string;
  /** What the upstream will be sent. */
  readonly request: HeaderList;
  /** What every answer to this request will carry, whoever gives it. */
  readonly response: HeaderList;
  readonly credentials: ReadonlyMap<string, Identity>;
  readonly counters: RateLimiterMemory;
  /** What PostgREST knows the gateway by. */
  readonly gatewayToken: string | undefined;
  identity: Identity | undefined;
  /** What `readBody` has read. */
  body: Buffer | undefined;
  /** Reads a body of unknown length, to be sent on from memory; nothing if it is longer than `limit` bytes. */
  readBody(limit: number): Promise<Buffer | undefined>;
}

export interface PluginHandler {
  /** Before the upstream is asked; an answer ends the request. */
  access?(exchange: Exchange): Answer | undefined | Promise<Answer | undefined>;
  /** Before the headers of any answer are sent; `source` says who gave it. */
  filterHeaders?(exchange: Exchange, headers: HeaderList, status: number, source: "exit" | "service"): void;
  /** For an upstream's answer of this status: what its whole body becomes, or nothing for it to stream as it is. */
  rewriteBody?(status: number): ((body: string) => string) | undefined;
}

/** One plugin: the configuration it implements and what it does. */
export interface Plugin<Config = unknown> {
  name: string;
  /** Kong's; the highest runs first. */
  priority: number;
  /** Whether a consumer may carry it. */
  onConsumers: boolean;
  /** Strict: a field that is not listed is refused. Defaults are Kong's. */
  config: z.ZodType<Config>;
  /** The only instance name implemented, if the plugin is recognised by it. */
  instanceName?: string;
  create(config: Config, scope: PluginScope): PluginHandler;
}

/** The end of every refusal of something that Kong could do. */
export const NOT_IMPLEMENTED = "not implemented by the embedded gateway; run Kong for this";
