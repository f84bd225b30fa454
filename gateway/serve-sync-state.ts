import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Sync } from "./start-sync.ts";

export interface SyncServerOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** PostgREST's own readiness check, where nobody else can ask it: its image holds no program to ask with. */
  postgrestReadyUrl?: string | undefined;
}

const checkMilliseconds = 2_000;

/**
 * Serves `/healthz` (the process and its database connection), `/readyz` (every node has the newest configuration,
 * and PostgREST is ready where it is asked) and Prometheus' `/metrics`.
 *
 * @throws Error that names a taken port and the variable that moves it
 */
export async function serveSyncState(
  sync: Sync,
  { host, port, postgrestReadyUrl }: SyncServerOptions,
): Promise<{ url: string; close: () => Promise<void> }> {
  const answers: Record<string, () => Promise<{ status: number; type: string; body: string }>> = {
    "/healthz": async () => {
      const { database, nodes } = sync.state();
      return asJson(database === "connected", { database, nodes });
    },
    "/readyz": async () => {
      const { database, nodes } = sync.state();
      const postgrest = await askPostgrest(postgrestReadyUrl);
      const isReady =
        database === "connected" &&
        Object.values(nodes).every((state) => state === "current") &&
        postgrest !== "away";
      return asJson(isReady, { database, nodes, ...(postgrest === undefined ? {} : { postgrest }) });
    },
    "/metrics": async () => ({
      status: 200,
      type: sync.metrics.registry.contentType,
      body: await sync.metrics.registry.metrics(),
    }),
  };
  const server = createServer(async (request, response) => {
    const answer = answers[request.url?.split("?")[0] ?? ""];
    const { status, type, body } =
      request.method === "GET" && answer !== undefined
        ? await answer()
        : { status: 404, type: "text/plain", body: "Not found\n" };
    response.writeHead(status, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "EADDRINUSE" ? "is taken" : `cannot be used (${cause.code})`;
      reject(new Error(`Port ${port} ${reason}. Set GATEWAY_SYNC_PORT to another port.`, { cause }));
    });
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${taken}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function asJson(isWell: boolean, body: object) {
  return { status: isWell ? 200 : 503, type: "application/json", body: `${JSON.stringify(body)}\n` };
}

async function askPostgrest(url: string | undefined): Promise<"ready" | "away" | undefined> {
  if (url === undefined) return undefined;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(checkMilliseconds) });
    await response.body?.cancel();
    return response.ok ? "ready" : "away";
  } catch {
    return "away";
  }
}
