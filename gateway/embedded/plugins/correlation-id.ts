import { randomUUID } from "node:crypto";
import { z } from "zod";
import { getHeader, setHeader } from "../headers.ts";
import type { Plugin } from "../plugin.ts";

const config = z.strictObject({
  header_name: z.string(),
  generator: z.literal("uuid"),
  echo_downstream: z.literal(true),
});

/** Gives a request an ID unless the client gave it one, and echoes it. */
export const correlationId = config.transform(({ header_name: header }): Plugin => {
  const name = header.toLowerCase();
  return {
    name: "correlation-id",
    priority: 100_001,
    access({ headers }) {
      if (!getHeader(headers, name)) setHeader(headers, header, randomUUID());
      return undefined;
    },
    filterHeaders({ headers }, answer) {
      setHeader(answer.headers, header, getHeader(headers, name) || randomUUID());
      return false;
    },
  };
});
