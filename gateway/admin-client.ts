import { Agent, request } from "undici";
import type { ListedEntity } from "./entity.ts";
import type { EntityKind, Fields } from "./entity-defaults.ts";
import { maskText } from "./mask-secrets.ts";

/** The node has read the entity and will not have it: its fields are wrong, or another has what must be unique. */
export class EntityRefused extends Error {
  override name = "EntityRefused";
}

/** What the entity belongs to is not there: somebody else has changed Kong's database meanwhile. */
export class EntityLost extends Error {
  override name = "EntityLost";
}

export interface AdminClientOptions {
  adminUrl: string;
  /** For an Admin API that asks for one, as the embedded gateway does. */
  token?: string | undefined;
  /** What must not stand in an error. */
  secrets?: readonly string[];
}

/** Kong's Admin API with a database, as far as it is used here. */
export interface AdminClient {
  /** Undefined where there is no such entity. */
  get: (path: string) => Promise<Fields | undefined>;
  /**
   * Creates or replaces.
   *
   * @throws EntityRefused
   * @throws EntityLost
   */
  put: (path: string, body: Fields) => Promise<void>;
  /**
   * Removes, whether or not it is there; a consumer with its credentials and plugins.
   *
   * @throws EntityRefused when others refer to it
   */
  remove: (path: string) => Promise<void>;
  /** All entities of a kind, whosever they are, in pages. */
  list: (kind: EntityKind) => AsyncGenerator<ListedEntity[]>;
  close: () => Promise<void>;
}

interface Refusal {
  code?: number;
  message?: string;
}

/** Requests that a node is sent at a time. More make nothing faster, and leave readers less. */
export const concurrency = 16;
/** Kong's largest. */
const pageSize = 1_000;
const answerMilliseconds = 10_000;
const foreignKeyViolation = 4;

/** Each request fails with an Error when the node cannot be reached, is busy or has no database. */
export function createAdminClient({ adminUrl, token, secrets = [] }: AdminClientOptions): AdminClient {
  // Not a signal for each request: Node keeps something of each for as long as the one that ends them all lives.
  const dispatcher = new Agent({
    connections: concurrency,
    connectTimeout: answerMilliseconds,
    headersTimeout: answerMilliseconds,
    bodyTimeout: answerMilliseconds,
  });
  const headers = token === undefined ? {} : { "kong-admin-token": token };

  async function ask(method: "GET" | "PUT" | "DELETE", path: string, body?: Fields) {
    const { statusCode, body: answer } = await request(new URL(path, adminUrl), {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      body: body === undefined ? null : JSON.stringify(body),
      dispatcher,
    });
    const text = await answer.text();
    if (statusCode < 300) return text;
    const what = maskText(`${method} ${path}: ${describeRefusal(text)}`, secrets);
    if (statusCode === 404) return undefined;
    if (statusCode === 400 && method === "PUT" && readRefusal(text).code === foreignKeyViolation) {
      throw new EntityLost(what);
    }
    if (statusCode === 400 || statusCode === 409) throw new EntityRefused(what);
    throw new Error(`${what} (${statusCode})`);
  }

  return {
    get: async (path) => {
      const text = await ask("GET", path);
      return text === undefined ? undefined : JSON.parse(text);
    },
    put: async (path, body) => {
      if ((await ask("PUT", path, body)) === undefined) throw new EntityLost(`PUT ${path}: Not found`);
    },
    remove: async (path) => void (await ask("DELETE", path)),
    list: async function* (kind) {
      for (let path: string | null = `/${kind}?size=${pageSize}`; path !== null; ) {
        const text: string | undefined = await ask("GET", path);
        if (text === undefined) throw new Error(`GET ${path}: Not found`);
        const page: { data: ListedEntity[]; next: string | null } = JSON.parse(text);
        // Lua's empty list may be shown as {}.
        yield Array.isArray(page.data) ? page.data : [];
        path = page.next;
      }
    },
    close: () => dispatcher.destroy(),
  };
}

function readRefusal(text: string): Refusal {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function describeRefusal(text: string): string {
  return (readRefusal(text).message ?? text).slice(0, 500);
}
