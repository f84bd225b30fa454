import { type FastifyInstance, fastify } from "fastify";
import type { Registry } from "prom-client";

/** Where to listen. */
interface Address {
  host: string;
  /** 0 means any free port. */
  port: number;
  /** The environment variable that sets the port, for the error message. */
  portVariable: string;
}

/**
 * Serves health checks, metrics and internal calls on a separate port that is not public. Bodies are read as text, of at most
 * 64 KB.
 *
 * @throws Error if the port cannot be used
 */
export async function serveState(
  address: Address,
  addRoutes: (app: FastifyInstance) => void,
): Promise<{ url: string; close: () => Promise<void> }> {
  const app = fastify({ forceCloseConnections: true, bodyLimit: 65_536 });
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  addRoutes(app);
  return { url: await listen(app, address), close: () => app.close() };
}

/** Serves the metrics in Prometheus's format at `/metrics`. */
export function serveMetrics(app: FastifyInstance, registry: Registry): void {
  app.get("/metrics", async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

/**
 * Starts to listen.
 *
 * @returns the base URL
 * @throws Error if the port cannot be used. It names the variable that sets the port
 */
export async function listen(app: FastifyInstance, { host, port, portVariable }: Address): Promise<string> {
  return await app.listen({ host, port }).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === "EADDRINUSE" ? "is taken" : `cannot be used at ${host} (${cause.code})`;
    const advice = `Set ${portVariable} to another port, or to 0 for any free one.`;
    throw new Error(`Port ${port} ${reason}. ${advice}`, { cause });
  });
}
