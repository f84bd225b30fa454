import { z } from "zod";
import { answerJson } from "../error-answers.ts";
import type { Plugin } from "./plugin.ts";

const DEFAULT_MESSAGES: Record<number, string> = {
  401: "Unauthorized",
  404: "Not found",
  405: "Method not allowed",
  500: "An unexpected error occurred",
  502: "Bad Gateway",
  503: "Service unavailable",
};

const config = z
  .strictObject({
    status_code: z.int().min(100).max(599).default(503),
    message: z.string().optional(),
    body: z.string().optional(),
    content_type: z.string().optional(),
  })
  .refine(
    (config) => config.message === undefined || config.body === undefined,
    "message and body exclude each other",
  )
  .refine(
    (config) => config.content_type === undefined || config.body !== undefined,
    "content_type needs a body",
  );

/** Answers by itself, whatever was asked. */
export const requestTermination: Plugin<z.output<typeof config>> = {
  name: "request-termination",
  priority: 2,
  onConsumers: true,
  config,
  create: ({ status_code: status, message, body, content_type: type }) => ({
    access() {
      if (body !== undefined) return { status, headers: type ? [["Content-Type", type]] : [], body };
      const text = message ?? DEFAULT_MESSAGES[status];
      return text === undefined ? { status, headers: [], body: "" } : answerJson(status, { message: text });
    },
  }),
};
