import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ProxyRequest {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  /** Of the answer. */
  status?: number;
}

export interface ProxyOptions {
  /** Runs before a request is passed on. */
  before?: (request: ProxyRequest) => Promise<void> | void;
  /** Answers instead of the target, and returns whether it did. `count` is the number of requests before this one. */
  answer?: (request: ProxyRequest, response: ServerResponse, count: number) => Promise<boolean> | boolean;
  /** Changes where a redirect leads. */
  changeLocation?: (location: string) => string;
}

/** Passes requests on unchanged, except for what the options say, and records them in order. */
export async function startProxy(target: string, { before, answer, changeLocation }: ProxyOptions = {}) {
  const requests: ProxyRequest[] = [];
  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", headers } = incoming;
    const asked: ProxyRequest = { method, url: new URL(incoming.url ?? "/", target), headers };
    const count = requests.push(asked) - 1;
    await before?.(asked);
    if (await answer?.(asked, response, count)) return;
    const { host, ...passed } = headers;
    const outgoing = request(asked.url, { method, headers: passed }, (answered) => {
      const { statusCode = 0, headers: sent } = answered;
      asked.status = statusCode;
      if (sent.location !== undefined && changeLocation) sent.location = changeLocation(sent.location);
      answered.pipe(response.writeHead(statusCode, sent));
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url, requests, close };
}
