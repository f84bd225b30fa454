import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";

export interface ProxyRequest {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  /** Of the answer. */
  status?: number;
}

export interface RecordingProxy {
  url: string;
  /** All that came, in order. */
  requests: ProxyRequest[];
  close: () => void;
}

export interface ProxyOptions {
  /** Runs before a request is passed on. `count` is the number of those before it. */
  before?: (request: ProxyRequest, count: number) => Promise<void> | void;
  /** Answers instead of the target; returns whether it did. */
  answer?: (request: ProxyRequest, response: ServerResponse, count: number) => boolean;
  /** Changes where a redirect leads. */
  changeLocation?: (location: string) => string;
}

/** Passes requests on unchanged, but for what the options say. */
export async function startProxy(target: string, options: ProxyOptions = {}): Promise<RecordingProxy> {
  const requests: ProxyRequest[] = [];
  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", headers } = incoming;
    const asked: ProxyRequest = { method, url: new URL(incoming.url ?? "/", target), headers };
    const count = requests.push(asked) - 1;
    await options.before?.(asked, count);
    if (options.answer?.(asked, response, count)) return;
    const { host, ...passed } = headers;
    const outgoing = request(asked.url, { method, headers: passed }, (answer) => {
      asked.status = answer.statusCode ?? 0;
      const { location } = answer.headers;
      if (location !== undefined) answer.headers.location = options.changeLocation?.(location) ?? location;
      response.writeHead(asked.status, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
