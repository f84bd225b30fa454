import { createHash } from "node:crypto";
import { z } from "zod";
import { getHeader, setHeader } from "../headers.ts";
import { parseQuery } from "../parse-query.ts";
import { NOT_IMPLEMENTED, type Plugin } from "./plugin.ts";

/** The Lua functions that are known here, each with what does the same below. */
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

const CHANGE_HEADERS = `
if kong.response.get_source() == "service" then
  local status = kong.response.get_status()
  if status == 500 then
    kong.response.clear_header("Content-Length")
  elseif status == 503 and kong.response.get_header("Retry-After") == "0" then
    kong.response.set_header("Retry-After", "30")
  end
end`;
const HINT = [
  "The query ran longer than this key may. Filter by report_id, audit_year, fac_accepted_date ",
  "or another indexed column, ask for fewer rows, or download the bulk files.",
];
const ADD_TIMEOUT_HINT = `
if kong.response.get_source() == "service" and kong.response.get_status() == 500 then
  local body = kong.response.get_raw_body()
  if body and body:find('"canceling statement due to statement timeout"', 1, true) then
    local hint = "${HINT[0]}"
      .. "${HINT[1]}"
    kong.response.set_raw_body((body:gsub('"hint":null', '"hint":"' .. hint .. '"', 1)))
  end
end`;

const collapse = (text: string) => text.trim().replace(/\s+/g, " ");
const lua = (known: string) =>
  z.tuple([z.string().refine((text) => collapse(text) === collapse(known), NOT_IMPLEMENTED)]);
const config = z
  .strictObject({
    access: lua(HASH_API_KEY),
    header_filter: lua(CHANGE_HEADERS).optional(),
    body_filter: lua(ADD_TIMEOUT_HINT).optional(),
  })
  .refine(
    ({ header_filter, body_filter }) => (header_filter === undefined) === (body_filter === undefined),
    "needs header_filter and body_filter together",
  );

/**
 * Replaces the API key of a request by its SHA-256, before key-auth compares it with what is stored, and tells the
 * client what to do when its statement ran too long, and when to come back after a 503.
 */
export const preFunction: Plugin<z.output<typeof config>> = {
  name: "pre-function",
  priority: 1_000_000,
  onConsumers: false,
  instanceName: "hash-api-key",
  config,
  create: ({ body_filter }) => ({
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
    filterHeaders(_exchange, headers, status) {
      if (body_filter === undefined) return;
      // The gateway's own 503 has no such header.
      if (status === 503 && getHeader(headers, "retry-after") === "0")
        setHeader(headers, "Retry-After", "30");
    },
    rewriteBody(status) {
      if (body_filter === undefined || status !== 500) return undefined;
      return (body) =>
        body.includes('"canceling statement due to statement timeout"')
          ? body.replace('"hint":null', `"hint":"${HINT.join("")}"`)
          : body;
    },
  }),
};
