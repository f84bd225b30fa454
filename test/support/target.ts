import { randomInt } from "node:crypto";
import { Agent, type Dispatcher } from "undici";
import { queryOn } from "./query-on.ts";
import { findWorkerNumber, ofWorker } from "./workers.ts";

/** Reads a variable of this worker's own stack, or else of the deployment that BASE_URL names. */
const find = (name: string) => process.env[ofWorker(name, findWorkerNumber())] || process.env[name];

function read(name: string): string {
  const value = find(name);
  if (!value) throw new Error(`${name} is not set. Set it together with BASE_URL, or leave both unset.`);
  return value;
}

/** The deployment under test. */
export const target = {
  get baseUrl() {
    return read("API_URL");
  },
  get appUrl() {
    return read("APP_URL");
  },
  get databaseUrl() {
    return read("DATABASE_URL");
  },
  get directory() {
    return find("STACK_DIRECTORY");
  },
  get postgrestUrl() {
    return read("POSTGREST_URL");
  },
  keys: {
    get demo() {
      return find("DEMO_KEY") || "DEMO_KEY";
    },
    get individual() {
      return read("INDIVIDUAL_KEY");
    },
    get tribal() {
      return read("TRIBAL_KEY");
    },
  },
};

export type KeyName = keyof typeof target.keys;
export const keyNames: KeyName[] = ["demo", "individual", "tribal"];

export interface Request {
  method?: string;
  /** One of the target's keys, any other key, or none. */
  key?: KeyName | { value: string };
  headers?: Record<string, string | string[]>;
  body?: string;
  /** Client address: the local address to send from, or X-Forwarded-For if FORWARD_ADDRESSES is set. */
  from?: string;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  /** Parsed on first access, because 50 MB take a while to parse. Undefined if the body is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests assert its shape.
  json: any;
}

const agents = new Map<string, Agent>();

/** Returns a random loopback address, so that tests do not use up each other's limits per client address. */
export function makeAddress(): string {
  return `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
}

const isLoopback = () => new URL(target.baseUrl).hostname.startsWith("127.");
/** Published ports of Docker hide the client's address, so FORWARD_ADDRESSES sends it as a trusted proxy does. */
const isForwarded = () => Boolean(process.env.FORWARD_ADDRESSES);

/** Sends a request to the gateway, with path and query exactly as given. */
export async function request(path: string, options: Request = {}): Promise<Answer> {
  return await send(target.baseUrl, path, options);
}

/** Sends a request to any origin, with path and query exactly as given. Does not follow redirects. */
export async function send(
  origin: string,
  path: string,
  { method = "GET", key, headers = {}, body, from }: Request = {},
): Promise<Answer> {
  // The demonstration key's limits apply per client address, so each request comes from a new one.
  const client = from ?? (key === "demo" && isLoopback() ? makeAddress() : "");
  const address = isForwarded() ? "" : client;
  const claimed = headers["x-forwarded-for"];
  const forwarded =
    isForwarded() && client !== "" ? { "x-forwarded-for": claimed ? `${claimed}, ${client}` : client } : {};
  let agent = agents.get(address);
  if (agent === undefined) {
    agent = new Agent({
      maxHeaderSize: 131_072,
      keepAliveTimeout: 1000,
      ...(address === "" ? {} : { localAddress: address }),
    });
    agents.set(address, agent);
  }
  const value = typeof key === "string" ? target.keys[key] : key?.value;
  const response = await agent.request({
    origin,
    path,
    method: method as Dispatcher.HttpMethod,
    headers: { ...(value === undefined ? {} : { "x-api-key": value }), ...headers, ...forwarded },
    body: body ?? null,
  });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  let parsed: { json: unknown } | undefined;
  return {
    status: response.statusCode,
    headers: response.headers,
    bytes,
    text,
    get json() {
      parsed ??= { json: parseJson(text) };
      return parsed.json;
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Asks the API for the ID of a public or a suppressed report. */
export async function findReport(isPublic: boolean): Promise<string> {
  const { json } = await request(`/general?is_public=eq.${isPublic}&select=report_id&limit=1`, {
    key: "individual",
  });
  const [row] = json;
  if (row === undefined) throw new Error(`The data set has no report with is_public = ${isPublic}.`);
  return row.report_id;
}

/** Runs SQL on the deployment's database, as its superuser. */
export const query = <Row extends object = Record<string, unknown>>(sql: string, values: unknown[] = []) =>
  queryOn<Row>(target.databaseUrl, sql, values);

/** Runs SQL on the deployment's database, and returns the first value of the first row. */
export async function queryValue<Value>(sql: string, values: unknown[] = []): Promise<Value> {
  const [row] = await query<Record<string, Value>>(sql, values);
  return Object.values(row ?? {})[0] as Value;
}
