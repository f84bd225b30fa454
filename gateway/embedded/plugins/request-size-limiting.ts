import { z } from "zod";
import { getHeader } from "../headers.ts";
import type { Plugin } from "../plugin.ts";

const BYTES = { megabytes: 2 ** 20, kilobytes: 2 ** 10, bytes: 1 };

const config = z.strictObject({
  allowed_payload_size: z.int(),
  size_unit: z.enum(["megabytes", "kilobytes", "bytes"]),
  require_content_length: z.literal(false),
});

/** 413 for a body over the limit. A body of unknown length is held back until it is whole, or over the limit. */
export const requestSizeLimiting = config.transform(
  ({ allowed_payload_size, size_unit }): Plugin => ({
    name: "request-size-limiting",
    priority: 951,
    async access({ headers, readBody }) {
      const allowed = allowed_payload_size * BYTES[size_unit];
      const length = getHeader(headers, "content-length");
      const isSmall = length === undefined ? await readBody(allowed) : Number(length) <= allowed;
      if (isSmall) return undefined;
      return { status: getHeader(headers, "expect")?.toLowerCase() === "100-continue" ? 417 : 413 };
    },
  }),
);
