import { correlationId } from "./correlation-id.ts";
import { cors } from "./cors.ts";
import { keyAuth } from "./key-auth.ts";
import type { Plugin } from "./plugin.ts";
import { postFunction } from "./post-function.ts";
import { preFunction } from "./pre-function.ts";
import { prometheus } from "./prometheus.ts";
import { rateLimiting } from "./rate-limiting.ts";
import { requestSizeLimiting } from "./request-size-limiting.ts";
import { requestTermination } from "./request-termination.ts";
import { requestTransformer } from "./request-transformer.ts";

/** Every plugin that is implemented, in the order in which they run. */
export const PLUGINS: readonly Plugin[] = [
  preFunction,
  correlationId,
  cors,
  keyAuth,
  requestSizeLimiting,
  rateLimiting,
  requestTransformer,
  requestTermination,
  prometheus,
  postFunction,
].sort((a, b) => b.priority - a.priority) as Plugin[];
