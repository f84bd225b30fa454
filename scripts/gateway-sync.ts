import { Command } from "commander";
import { pino } from "pino";
import { dotenv } from "zx";
import { serveSyncState } from "../gateway/serve-sync-state.ts";
import { startSync } from "../gateway/start-sync.ts";
import { readSyncConfig } from "../gateway/sync-config.ts";
import { runUntilSignal } from "../service/run-until-signal.ts";

new Command("gateway:sync")
  .description(
    "Keeps Kong's database as wanted, by its Admin API: routes, keys and limits. Runs until Ctrl-C.\n" +
      "It connects as the role gateway_sync, and outlives the database and the nodes.",
  )
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Environment (or .env); * may also stand in a file that <NAME>_FILE names:
  GATEWAY_SYNC_DATABASE_URL *       the database, as the role gateway_sync; or PGHOST, PGUSER, …
  GATEWAY_SYNC_DATABASE_PASSWORD *  the role's password, if not in the address
  GATEWAY_ADMIN_URLS                admin addresses, by comma: one for each database of Kong
  GATEWAY_ADMIN_TOKEN *             for an Admin API that asks for one, as the embedded gateway's
  POSTGREST_URL                     PostgREST, as the gateway reaches it
  POSTGREST_CALLS_URL               PostgREST for calls, where POSTGREST_URL reads a replica
  POSTGREST_READY_URL               PostgREST's check, for /readyz to ask
  REDIS_HOST, REDIS_PORT (6379), REDIS_PASSWORD *
                                    where the nodes share their counters; without it each counts for itself. Kong
                                    reads the password from its own REDIS_PASSWORD
  GATEWAY_SYNC_HOST (127.0.0.1), GATEWAY_SYNC_PORT
                                    where /healthz, /readyz and /metrics are served; nowhere without the port

Exit status: 0 stopped by a signal, 1 could not be started.`,
  )
  .parse();

await runUntilSignal("gateway:sync", async () => {
  const { listen, postgrestReadyUrl, ...config } = readSyncConfig({
    ...dotenv.loadSafe(".env"),
    ...process.env,
  });
  const logger = pino({ name: "gateway-sync" });
  const sync = await startSync({ ...config, logger });
  if (listen === undefined) return sync;
  const server = await serveSyncState(sync, { ...listen, postgrestReadyUrl }).catch(async (error) => {
    await sync.close();
    throw error;
  });
  logger.info({ url: server.url }, "serving /healthz, /readyz and /metrics");
  return {
    close: async () => {
      await server.close();
      await sync.close();
    },
  };
});
