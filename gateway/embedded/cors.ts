import { z } from "zod";
import { getHeader, type Headers, setHeaders } from "./headers.ts";
import type { Exchange, Plugin } from "./plugin.ts";

const config = z.strictObject({
  origins: z.tuple([z.literal("*")]),
  methods: z.array(z.string()).min(1),
  exposed_headers: z.array(z.string()).min(1),
  max_age: z.int(),
});

const isPreflight = ({ method, headers }: Exchange) =>
  method === "OPTIONS" && headers.has("origin") && headers.has("access-control-request-method");

/** Lets pages of any origin read responses and send any header, like Kong's plugin. Answers preflight requests. */
export const cors = config.transform((config): Plugin => {
  const preflights = new WeakSet<Exchange>();
  return {
    name: "cors",
    priority: 2000,
    access(exchange) {
      if (!isPreflight(exchange)) return undefined;
      preflights.add(exchange);
      const headers: Headers = new Map();
      setHeaders(headers, {
        "access-control-allow-origin": "*",
        "access-control-allow-headers":
          getHeader(exchange.headers, "access-control-request-headers") ?? false,
        "access-control-allow-methods": config.methods.join(","),
        "access-control-max-age": config.max_age,
      });
      return { source: "exit", status: 200, headers, body: Buffer.alloc(0) };
    },
    filterResponse(exchange, { headers }) {
      if (preflights.has(exchange)) return undefined;
      setHeaders(headers, {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": config.exposed_headers.join(","),
      });
      return undefined;
    },
  };
});
