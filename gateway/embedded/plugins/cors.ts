import { z } from "zod";
import { setHeader } from "../headers.ts";
import type { Exchange, Plugin } from "../plugin.ts";

const config = z.strictObject({
  origins: z.tuple([z.literal("*")]),
  methods: z.array(z.string()).min(1),
  headers: z.array(z.string()).min(1),
  exposed_headers: z.array(z.string()).min(1),
  max_age: z.int(),
});

const isPreflight = ({ method, headers }: Exchange) =>
  method === "OPTIONS" && headers.has("origin") && headers.has("access-control-request-method");

/** Lets pages of any origin read responses, and answers their preflight requests. */
export const cors = config.transform(
  (config): Plugin => ({
    name: "cors",
    priority: 2000,
    access(exchange) {
      if (!isPreflight(exchange)) return undefined;
      setHeader(exchange.answerHeaders, "Access-Control-Allow-Origin", "*");
      setHeader(exchange.answerHeaders, "Access-Control-Allow-Headers", config.headers.join(","));
      setHeader(exchange.answerHeaders, "Access-Control-Allow-Methods", config.methods.join(","));
      setHeader(exchange.answerHeaders, "Access-Control-Max-Age", config.max_age);
      return { status: 200 };
    },
    filterHeaders(exchange, { headers }) {
      if (isPreflight(exchange)) return false;
      setHeader(headers, "Access-Control-Allow-Origin", "*");
      setHeader(headers, "Access-Control-Expose-Headers", config.exposed_headers.join(","));
      return false;
    },
  }),
);
