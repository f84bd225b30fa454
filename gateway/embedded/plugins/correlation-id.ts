import { randomUUID } from "node:crypto";
import { z } from "zod";
import { getHeader, setHeader } from "../headers.ts";
import type { Plugin } from "./plugin.ts";

const config = z.strictObject({
  header_name: z
    .string()
    .regex(/^[\w-]+$/)
    .default("Kong-Request-ID"),
  generator: z.enum(["uuid", "uuid#counter"]).default("uuid#counter"),
  echo_downstream: z.boolean().default(false),
});

const processId = randomUUID();
let counter = 0;

/** Gives a request an id unless the client gave it one, and echoes it. */
export const correlationId: Plugin<z.output<typeof config>> = {
  name: "correlation-id",
  priority: 100_001,
  onConsumers: false,
  config,
  create(config) {
    const generate = () => (config.generator === "uuid" ? randomUUID() : `${processId}#${++counter}`);
    return {
      access(exchange) {
        if (!getHeader(exchange.request, config.header_name)) {
          setHeader(exchange.request, config.header_name, generate());
        }
        return undefined;
      },
      filterHeaders(exchange, headers) {
        if (!config.echo_downstream) return;
        setHeader(headers, config.header_name, getHeader(exchange.request, config.header_name) || generate());
      },
    };
  },
};
