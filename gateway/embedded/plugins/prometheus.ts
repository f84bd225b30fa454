import { z } from "zod";
import { NOT_IMPLEMENTED, type Plugin } from "./plugin.ts";

const config = z.strictObject({
  status_code_metrics: z.boolean().default(false),
  latency_metrics: z.boolean().default(false),
  // More than /metrics has here.
  bandwidth_metrics: z.literal(false, NOT_IMPLEMENTED).default(false),
  upstream_health_metrics: z.literal(false, NOT_IMPLEMENTED).default(false),
  per_consumer: z.literal(false, NOT_IMPLEMENTED).default(false),
});

/** Lets a document have it: the embedded gateway counts requests whether it is there or not. */
export const prometheus: Plugin<z.output<typeof config>> = {
  name: "prometheus",
  priority: 13,
  onConsumers: false,
  config,
  create: () => ({}),
};
