import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { listen, serveMetrics, serveState } from "../serve-state.ts";

/** Where an app listens. */
export interface Listening {
  host: string;
  port: number;
  /** Where to serve /metrics, if at all. */
  metrics?: { host: string; port: number } | undefined;
}

export interface RunningApp {
  /** Its base URL, with no slash at the end. */
  url: string;
  metricsUrl?: string;
  /** Stops accepting requests, waits up to 10 s for responses in progress, then closes everything it has opened. */
  close(): Promise<void>;
}

interface StartedParts {
  app: FastifyInstance;
  registry: Registry;
  /** Adds internal calls on the port of the metrics, which is not public. */
  addCalls?: (app: FastifyInstance) => void;
  /** Closes what the app has opened. */
  release: () => Promise<unknown>;
}

const drainMilliseconds = 10_000;
const releaseMilliseconds = 2000;

/**
 * Starts an app, even if its database or storage is down (`/readyz` then returns 503).
 *
 * @throws Error if a port is taken
 */
export async function startApp(
  { host, port, metrics }: Listening,
  { app, registry, addCalls, release }: StartedParts,
): Promise<RunningApp> {
  const metricsServer =
    metrics &&
    (await serveState({ ...metrics, portVariable: "APP_METRICS_PORT" }, (internal) => {
      serveMetrics(internal, registry);
      addCalls?.(internal);
    }));
  const releaseAll = async () => {
    await metricsServer?.close();
    await release();
  };
  const close = async () => {
    const timer = setTimeout(() => app.server.closeAllConnections(), drainMilliseconds);
    await app.close();
    clearTimeout(timer);
    // A database that does not answer must not keep the process alive.
    await Promise.race([releaseAll(), sleep(releaseMilliseconds, undefined, { ref: false })]);
  };
  const url = await listen(app, { host, port, portVariable: "APP_PORT" }).catch(async (error) => {
    await close();
    throw error;
  });
  return { url, close, ...(metricsServer && { metricsUrl: `${metricsServer.url}/metrics` }) };
}
