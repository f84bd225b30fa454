import { createHash } from "node:crypto";
import { z } from "zod";
import { getHeader, setHeader } from "../headers.ts";
import { parseQuery } from "../parse-query.ts";
import { NOT_IMPLEMENTED, type Plugin } from "./plugin.ts";

/** The one Lua function that is known here; `hashApiKey` does the same. */
const HASH_API_KEY = `
local key = kong.request.get_header("x-api-key")
local query = kong.request.get_raw_query()
if query:find("api_key=", 1, true) then
  key = key or kong.request.get_query_arg("api_key")
  query = ("&" .. query):gsub("&api_key=[^&]*", "")
  kong.service.request.set_raw_query((query:gsub("^&", "")))
end
if type(key) == "string" then
  kong.service.request.set_header("x-api-key", (require("kong.tools.sha256").sha256_hex(key)))
end`;

const collapse = (text: string) => text.trim().replace(/\s+/g, " ");
const lua = z.string().refine((text) => collapse(text) === collapse(HASH_API_KEY), NOT_IMPLEMENTED);

/** Replaces the API key of a request by its SHA-256, before key-auth compares it with what is stored. */
export const preFunction: Plugin<{ access: string[] }> = {
  name: "pre-function",
  priority: 1_000_000,
  onConsumers: false,
  instanceName: "hash-api-key",
  config: z.strictObject({ access: z.array(lua).length(1) }),
  create: () => ({
    access(exchange) {
      let key: string | true | undefined = getHeader(exchange.request, "x-api-key");
      if (exchange.query.includes("api_key=")) {
        key ??= parseQuery(exchange.query).get("api_key")?.[0];
        exchange.query = `&${exchange.query}`.replace(/&api_key=[^&]*/g, "").replace(/^&/, "");
      }
      if (typeof key === "string") {
        const digest = createHash("sha256").update(key, "latin1").digest("hex");
        setHeader(exchange.request, "x-api-key", digest);
      }
      return undefined;
    },
  }),
};
