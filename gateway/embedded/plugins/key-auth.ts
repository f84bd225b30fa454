import { z } from "zod";
import { answerError } from "../error-answers.ts";
import { getHeaders, removeHeader, setHeader } from "../headers.ts";
import { parseQuery } from "../parse-query.ts";
import type { Exchange, Plugin } from "./plugin.ts";

const config = z.strictObject({
  key_names: z
    .array(z.string().regex(/^[\w-]+$/))
    .min(1)
    .default(["apikey"]),
  key_in_header: z.boolean().default(true),
  key_in_query: z.boolean().default(true),
  key_in_body: z.literal(false).default(false),
  hide_credentials: z.literal(false).default(false),
  run_on_preflight: z.boolean().default(true),
  realm: z.string().optional(),
});
type Config = z.output<typeof config>;

/** Finds the consumer that a key belongs to and tells the upstream who it is; 401 otherwise. */
export const keyAuth: Plugin<Config> = {
  name: "key-auth",
  priority: 1250,
  onConsumers: false,
  config,
  create: (config) => ({
    access(exchange) {
      if (!config.run_on_preflight && exchange.method === "OPTIONS") return undefined;
      const challenge = config.realm === undefined ? "Key" : `Key realm="${config.realm}"`;
      const refuse = (message: string) =>
        answerError(exchange, 401, message, [["WWW-Authenticate", challenge]]);

      const keys = findKeys(exchange, config);
      if (keys.length > 1) return refuse("Duplicate API key found");
      const key = keys[0];
      if (key === undefined || key === "") return refuse("No API key found in request");
      const identity = exchange.credentials.get(key);
      if (!identity) return refuse("Unauthorized");

      exchange.identity = identity;
      setOrRemove(exchange, "X-Consumer-ID", identity.consumer.id());
      setOrRemove(exchange, "X-Consumer-Custom-ID", identity.consumer.customId);
      setOrRemove(exchange, "X-Consumer-Username", identity.consumer.username);
      setOrRemove(exchange, "X-Credential-Identifier", identity.credentialId());
      removeHeader(exchange.request, "X-Anonymous-Consumer");
      return undefined;
    },
  }),
};

/** The values under the first name that has a value; more than one is an error of the client. */
function findKeys(exchange: Exchange, config: Config): string[] {
  const query = config.key_in_query ? parseQuery(exchange.query) : undefined;
  for (const name of config.key_names) {
    const inHeader = config.key_in_header ? getHeaders(exchange.request, name) : [];
    const values = inHeader.length > 0 ? inHeader : (query?.get(name) ?? []);
    // A parameter without "=" is no key.
    if (values.length === 1 && values[0] === true) continue;
    if (values.length > 0) return values.map(String);
  }
  return [];
}

function setOrRemove(exchange: Exchange, name: string, value: string | undefined): void {
  if (value === undefined) removeHeader(exchange.request, name);
  else setHeader(exchange.request, name, value);
}
