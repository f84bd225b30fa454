import { z } from "zod";
import { getHeader, setHeader } from "../headers.ts";
import type { Exchange, Plugin } from "./plugin.ts";

const METHODS = ["GET", "HEAD", "PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE", "CONNECT"] as const;

const config = z.strictObject({
  origins: z.array(z.literal("*")).max(1).default(["*"]),
  methods: z.array(z.enum(METHODS)).default([...METHODS]),
  headers: z.array(z.string()).default([]),
  exposed_headers: z.array(z.string()).default([]),
  max_age: z.number().optional(),
  credentials: z.literal(false).default(false),
  preflight_continue: z.literal(false).default(false),
  private_network: z.literal(false).default(false),
  allow_origin_absent: z.boolean().default(true),
});

/** Lets pages of any origin read the answers, and answers their preflight requests. */
export const cors: Plugin<z.output<typeof config>> = {
  name: "cors",
  priority: 2000,
  onConsumers: false,
  config,
  create: (config) => ({
    access(exchange) {
      if (!isPreflight(exchange)) return undefined;
      const allowed =
        config.headers.join(",") || getHeader(exchange.request, "access-control-request-headers");
      setHeader(exchange.response, "Access-Control-Allow-Origin", "*");
      if (allowed !== undefined) setHeader(exchange.response, "Access-Control-Allow-Headers", allowed);
      setHeader(exchange.response, "Access-Control-Allow-Methods", config.methods.join(","));
      if (config.max_age !== undefined) {
        setHeader(exchange.response, "Access-Control-Max-Age", String(config.max_age));
      }
      return { status: 200, headers: [], body: "" };
    },
    filterHeaders(exchange, headers) {
      if (isPreflight(exchange)) return;
      if (getHeader(exchange.request, "origin") === undefined && !config.allow_origin_absent) return;
      setHeader(headers, "Access-Control-Allow-Origin", "*");
      if (config.exposed_headers.length > 0) {
        setHeader(headers, "Access-Control-Expose-Headers", config.exposed_headers.join(","));
      }
    },
  }),
};

function isPreflight(exchange: Exchange): boolean {
  return (
    exchange.method === "OPTIONS" &&
    getHeader(exchange.request, "origin") !== undefined &&
    getHeader(exchange.request, "access-control-request-method") !== undefined
  );
}
