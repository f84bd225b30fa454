import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
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
  /** Responses to GET by path. Other paths get 404. */
  answers: Record<string, () => Promise<StateAnswer>>;
  /** Responses to POST by path. They get the body, of which at most 64 KB are read. */
  calls?: Record<string, (body: string) => Promise<StateAnswer>>;
}

/**
 * Serves health checks and metrics, such as `/readyz` and `/metrics`, and internal calls, on a separate port that is not
 * public.
 *
 * @throws Error if the port is in use. It names the variable that sets the port
 */
export async function serveState({
  host,
  port,
  portVariable,
  answers,
  calls = {},
}: StateServerOptions): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(async (request, response) => {
    const path = request.url?.split("?")[0] ?? "";
    const call = request.method === "POST" ? calls[path] : undefined;
    const answer =
      request.method === "GET" ? answers[path] : call && (async () => call(await readBody(request)));
    const { status, type, body } =
      answer === undefined
        ? { status: 404, type: "text/plain", body: "Not found\n" }
        : await answer().catch(() => ({ status: 500, type: "text/plain", body: "Internal error\n" }));
    response.writeHead(status, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "is taken" : `cannot be used (${cause.code})`;
      reject(new Error(`Port ${port} ${reason}. Set ${portVariable} to another port.`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const mostBytes = 65_536;

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("latin1")) {
    body += chunk;
    if (body.length > mostBytes) throw new Error(`The body has more than ${mostBytes} bytes.`);
  }
  return body;
}

/** Returns a JSON response with status 200, or 503 if the service is not healthy. */
export function asJson(isWell: boolean, body: object): StateAnswer {
  return { status: isWell ? 200 : 503, type: "application/json", body: `${JSON.stringify(body)}\n` };
}

/** Returns the metrics in Prometheus's format. */
export async function asMetrics(registry: Registry): Promise<StateAnswer> {
  return { status: 200, type: registry.contentType, body: await registry.metrics() };
}
