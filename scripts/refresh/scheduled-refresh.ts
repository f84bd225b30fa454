import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Logger } from "pino";
import { openObjects } from "../../shared/objects/open-objects.ts";
import { withPublisher } from "./connect-publisher.ts";
import { explainFailure } from "./explain-failure.ts";
import { compareWithLedger } from "./ledger.ts";
import { RefreshIsRunning } from "./lock-publication.ts";
import type { RefreshConfig } from "./refresh-config.ts";
import { refreshDataSet } from "./refresh-data-set.ts";
import type { RefreshMetrics, ScheduleState } from "./refresh-metrics.ts";
import type { SessionLimits } from "./watch-session.ts";

/** What the work of the service needs. */
export interface ScheduleParts {
  config: RefreshConfig;
  logger: Logger;
  metrics: RefreshMetrics;
  state: ScheduleState;
  /** Aborts when the service closes. */
  stop: AbortSignal;
  /** Milliseconds in a minute between attempts. */
  minute: number;
}

/** Minutes to wait before each retry of a failed refresh. */
const retryMinutes = [1, 5, 15, 60];
const storageTimeoutMilliseconds = 3_000;
/** For queries between refreshes, on which the state of the service depends. */
const queryLimits: SessionLimits = { check: 5_000, silence: 10_000 };

/** Refreshes, with retries, unless this service is refreshing already. */
export async function refreshWithRetries(parts: ScheduleParts): Promise<void> {
  const { config, logger, metrics, state, stop, minute } = parts;
  if (config.source === undefined) return;
  if (state.isRunning) {
    metrics.runs.inc({ outcome: "busy" });
    logger.warn("refresh: skipped, because the last one is still running");
    return;
  }
  state.isRunning = true;
  // Connects the log lines of all attempts.
  const run = logger.child({ run_id: randomUUID() });
  for (const minutes of [...retryMinutes, 0]) {
    if (stop.aborted || !(await attempt(parts, config.source, run))) break;
    await sleep(minutes * minute, undefined, { signal: stop }).catch(() => {});
  }
  state.isRunning = false;
  await readLiveDataSet(parts);
}

/** @returns whether to try again */
async function attempt({ config, metrics }: ScheduleParts, from: string, run: Logger): Promise<boolean> {
  const { publicData, storage } = config;
  const recordDuration = metrics.lastDuration.startTimer();
  const options = { from, publicData, storage, report: (line: string) => run.info(line) };
  try {
    const refresh = (client: Client) => refreshDataSet(client, options);
    const { outcome } = await withPublisher(config.database, refresh, config.limits, options.report);
    if (outcome === "published") recordDuration();
    metrics.lastSuccess.setToCurrentTime();
    metrics.runs.inc({ outcome });
    run.info(`refresh: ${outcome}`);
    return false;
  } catch (err) {
    const isBusy = err instanceof RefreshIsRunning;
    metrics.runs.inc({ outcome: isBusy ? "busy" : "failed" });
    // Tried again as well, because the other refresh may fail, or its node may be lost.
    if (isBusy) run.info({ err }, "refresh: waiting, because another one is running");
    else run.error({ err }, `refresh: failed. ${explainFailure(err)}`);
    return true;
  }
}

/** Notes whether the database answers, and when the live data set was published. */
export async function readLiveDataSet(parts: ScheduleParts): Promise<void> {
  const live = "select published_at from publication.data_sets where state = 'live'";
  const rows = await query(parts, "the live data set", live);
  parts.state.isDatabaseConnected = rows !== undefined;
  if (rows !== undefined) parts.state.publishedAt = rows[0]?.published_at;
}

/** Compares the database with the ledger. After PostgreSQL restarts, this lets the database answer requests again. */
export async function compareLedger({ config, logger, state }: ScheduleParts): Promise<void> {
  const compare = async (client: Client) => {
    await compareWithLedger(client, config.storage).finally(async () => {
      const { rows } = await client.query(oldestWaiting);
      state.ledgerWaitingSince = rows[0]?.recorded_at;
    });
  };
  const problem = await withPublisher(config.database, compare, config.limits ?? queryLimits).then(
    () => undefined,
    (error: Error) => error.message,
  );
  // During an outage, every comparison fails for the same reason.
  if (problem !== undefined && problem !== state.ledgerProblem)
    logger.error(`Cannot compare the database with the ledger. ${problem}`);
  state.ledgerProblem = problem;
}

const oldestWaiting =
  "select recorded_at from ledger.entries where object_number is null order by id limit 1";

/** Looks for leaks, because rights and rows may change between publications, and removes old one-time tokens. */
export async function workHourly(parts: ScheduleParts): Promise<void> {
  const { logger, metrics } = parts;
  const leaks = "select find_leaks as leak from publication.find_leaks(true)";
  const found = await query(parts, "leaks", leaks);
  for (const { leak } of found ?? [])
    logger.error({ leak }, "Suppressed data can be seen without Tribal access.");
  if (found !== undefined) {
    metrics.leaks.set(found.length);
    metrics.leaksCheckedAt.setToCurrentTime();
  }
  const pruned = await query(parts, "expired tokens", "select access.prune_access_tokens() as pruned");
  metrics.prunedTokens.inc(Number(pruned?.[0]?.pruned ?? 0));
}

/** @returns the rows, or undefined if the database did not answer */
async function query({ config, logger }: ScheduleParts, what: string, sql: string) {
  const ask = async (client: Client) => (await client.query(sql)).rows;
  return await withPublisher(config.database, ask, config.limits ?? queryLimits).catch((err: unknown) => {
    logger.warn({ err }, `The database cannot be queried for ${what}.`);
    return undefined;
  });
}

/** @throws Error if the source or the bucket of the bulk files cannot be reached */
export async function checkStorage({ source, publicData, storage }: RefreshConfig): Promise<void> {
  // The first refresh creates the directory of the bulk files.
  for (const place of [source, publicData?.startsWith("s3://") ? publicData : undefined]) {
    if (place === undefined) continue;
    const objects = await openObjects(place, storage);
    await objects.check(AbortSignal.timeout(storageTimeoutMilliseconds)).finally(objects.close);
  }
}
