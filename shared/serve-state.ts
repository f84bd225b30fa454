import { type FastifyInstance, type FastifyReply, fastify } from "fastify";
import type { Registry } from "prom-client";

/** The response to a request. */
interface StateAnswer {
  status: number;
  type: string;
  body: string;
}

interface StateServerOptions {
  host: string;
  /** 0 means any free port. */
  port: number;
  /** The environment variable that sets the port, for the error message. */
  portVariable: string;
  /** Responses to GET by path. */
  answers: Record<string, () => Promise<StateAnswer>>;
  /** Responses to POST by path. They get the body, of which at most 64 KB are read. */
  calls?: Record<string, (body: string) => Promise<StateAnswer>>;
}

/**
 * Serves health checks and metrics, such as `/readyz` and `/metrics`, and internal calls, on a separate port that is not
 * public.
 *
 * @throws Error if the port cannot be used
 */
export async function serveState({
  host,
  port,
  portVariable,
  answers,
  calls = {},
}: StateServerOptions): Promise<{ url: string; close: () => Promise<void> }> {
  const app = fastify({ forceCloseConnections: true, bodyLimit: 65_536 });
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  const send = (reply: FastifyReply, { status, type, body }: StateAnswer) =>
    reply.code(status).type(type).send(body);
  for (const [path, answer] of Object.entries(answers))
    app.get(path, async (_request, reply) => send(reply, await answer()));
  for (const [path, call] of Object.entries(calls))
    app.post(path, async (request, reply) => send(reply, await call(String(request.body))));
  return { url: await listen(app, { host, port, portVariable }), close: () => app.close() };
}

/**
 * Starts to listen.
 *
 * @returns the base URL
 * @throws Error if the port cannot be used. It names the variable that sets the port
 */
export async function listen(
  app: FastifyInstance,
  { host, port, portVariable }: Pick<StateServerOptions, "host" | "port" | "portVariable">,
): Promise<string> {
  return await app.listen({ host, port }).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === "EADDRINUSE" ? "is taken" : `cannot be used at ${host} (${cause.code})`;
    const advice = `Set ${portVariable} to another port, or to 0 for any free one.`;
    throw new Error(`Port ${port} ${reason}. ${advice}`, { cause });
  });
}

/** Returns a JSON response with status 200, or 503 if the service is not healthy. */
export function asJson(isWell: boolean, body: object): StateAnswer {
  return { status: isWell ? 200 : 503, type: "application/json", body: `${JSON.stringify(body)}\n` };
}

/** Returns the metrics in Prometheus's format. */
export async function asMetrics(registry: Registry): Promise<StateAnswer> {
  return { status: 200, type: registry.contentType, body: await registry.metrics() };
}
