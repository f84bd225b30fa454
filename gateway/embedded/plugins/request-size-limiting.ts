import { z } from "zod";
import { answerError } from "../error-answers.ts";
import { getHeader } from "../headers.ts";
import type { Exchange, Plugin } from "./plugin.ts";

const BYTES = { megabytes: 2 ** 20, kilobytes: 2 ** 10, bytes: 1 } as const;

const config = z.strictObject({
  allowed_payload_size: z.int().default(128),
  size_unit: z.enum(["megabytes", "kilobytes", "bytes"]).default("megabytes"),
  require_content_length: z.boolean().default(false),
});

/** 413 for a body over the limit. A body of unknown length is held back until it is whole, or over the limit. */
export const requestSizeLimiting: Plugin<z.output<typeof config>> = {
  name: "request-size-limiting",
  priority: 951,
  onConsumers: true,
  config,
  create(config) {
    const allowed = config.allowed_payload_size * BYTES[config.size_unit];
    return {
      async access(exchange) {
        const length = getHeader(exchange.request, "content-length");
        if (length === undefined) {
          if (config.require_content_length) {
            return answerError(exchange, 411, "A valid Content-Length header is required");
          }
          return (await exchange.readBody(allowed)) === undefined ? answerTooLarge(exchange, 413) : undefined;
        }
        if (Number(length) <= allowed) return undefined;
        const expects = getHeader(exchange.request, "expect")?.trim().toLowerCase() === "100-continue";
        return answerTooLarge(exchange, expects ? 417 : 413);
      },
    };
  },
};

function answerTooLarge(exchange: Exchange, status: number) {
  return answerError(exchange, status, "Request size limit exceeded");
}
