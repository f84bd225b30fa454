import type { Logger } from "pino";
import type { KeyChange } from "./active-keys.ts";
import { createAdminClient } from "./admin-client.ts";
import { type Change, compareNode, type Wanted } from "./compare-node.ts";
import { createSleeper, repeat } from "./repeat.ts";
import { createWriter } from "./write-changes.ts";

/** `waiting`: for the first comparison; `current`: it has what is wanted; `refusing`: all but something it refuses. */
export type NodeState = "waiting" | "current" | "refusing" | "away";

export interface NodeFollowerOptions {
  adminUrl: string;
  adminToken?: string | undefined;
  /** Undefined until the keys have been read for the first time. */
  readWanted: () => Wanted | undefined;
  logger: Logger;
  /** A change that was heard of at this moment is in force. */
  onApplied: (changedAt: number) => void;
  /** The node has all that is wanted, but for what it refuses. */
  onCurrent: () => void;
  /** What others have made in Kong's database, at each comparison. */
  onForeign: (count: number) => void;
  onFailure: (error: Error) => void;
}

export interface NodeFollower {
  state: () => NodeState;
  /** These keys are new, changed or gone. */
  change: (changes: KeyChange[], changedAt: number) => void;
  /** Anything may have changed. */
  compare: () => void;
  close: () => Promise<void>;
}

const pollMilliseconds = 1_000;
/** Repairs what somebody else has changed in Kong's database. */
const compareMilliseconds = 5 * 60_000;
const namedForeign = 20;
/** A route may have moved to another service, so those go last. */
const isEarly = ({ kind, isStandIn }: Change) =>
  isStandIn !== true && (kind === "plugins" || kind === "key-auths");
const isForAll = ({ kind, entity }: Change) =>
  kind === "plugins" && entity?.service === undefined && entity?.route === undefined;
const opens = ({ action, kind, entity }: Change) =>
  action === "create" && (kind === "routes" || entity?.route !== undefined);
/** What a node without its routes gets after all keys: before that, it would tell who has one that it is unknown. */
const chooseLate = (base: Change[]) =>
  base.some(opens) ? [...base.filter(isForAll), ...base.filter(opens)] : [];

/**
 * Keeps Kong's database as wanted, by the Admin API of one node: compares all of it at the start and every five
 * minutes, and writes what differs; in between only keys that change. Every second it looks whether what it wrote last
 * still stands: a database that was emptied or restored is compared at once.
 */
export function followNode(options: NodeFollowerOptions): NodeFollower {
  const { adminUrl, logger, readWanted } = options;
  const admin = createAdminClient({ adminUrl, token: options.adminToken });
  const closing = new AbortController();
  const sleeper = createSleeper();
  const writer = createWriter({
    ...options,
    admin,
    onRefused: (error) => {
      logger.error({ node: adminUrl, err: error }, "a gateway node refused an entity");
      options.onFailure(error);
    },
  });
  const noteForeign = createForeignLog(options);
  const { state, note } = createStateLog(options);
  let comparedAt = Number.NEGATIVE_INFINITY;

  async function bringUpToDate(): Promise<void> {
    const wanted = readWanted();
    if (wanted === undefined) return;
    await writer.writeUrgent();
    const isDue = Date.now() - comparedAt >= compareMilliseconds;
    if (isDue || !(await writer.lastStands())) await compareAll(wanted);
    await writer.writeAll();
    options.onCurrent();
    const next = writer.refused() > 0 ? "refusing" : "current";
    note(next, next === "current" ? "a gateway node is as wanted" : "a gateway node refuses some entities");
  }

  async function compareAll(wanted: Wanted): Promise<void> {
    const startedAt = Date.now();
    const found = await compareNode(admin, () => readWanted() ?? wanted, writer.writeUrgent);
    const { base, keys, strays, foreign } = found;
    noteForeign(foreign.map(({ kind, name }) => `${kind} ${name}`));
    logDifferences(options, found);
    writer.watch(`/services/${wanted.base.services[0]?.id}`);
    const late = chooseLate(base);
    writer.forgetRefusals();
    await writer.writeBase([...strays.filter(isEarly), ...base.filter((it) => !late.includes(it))]);
    writer.addKeys(keys);
    if (late.length > 0) await writer.writeAll();
    await writer.writeBase([...late, ...strays.filter((it) => !isEarly(it))]);
    comparedAt = startedAt;
  }

  const ended = repeat(bringUpToDate, {
    signal: closing.signal,
    pauseMilliseconds: pollMilliseconds,
    sleep: sleeper.sleep,
    onFailure: (error) => {
      // What was under way may be half done.
      comparedAt = Number.NEGATIVE_INFINITY;
      note("away", "a gateway node is away; it is tried again", error);
    },
  });
  const wake = () => {
    // A node that is away is not asked more often because keys change.
    if (state() !== "away") sleeper.wake();
  };
  return {
    state,
    change: (changes, changedAt) => {
      writer.addUrgent(changes, changedAt);
      wake();
    },
    compare: () => {
      comparedAt = Number.NEGATIVE_INFINITY;
      wake();
    },
    close: async () => {
      closing.abort();
      sleeper.wake();
      await admin.close();
      await ended;
    },
  };
}

/** Logs what is new about the node, not what stays as it was. */
function createStateLog({ adminUrl, logger, onFailure }: NodeFollowerOptions) {
  let state: NodeState = "waiting";
  const note = (next: NodeState, message: string, error?: Error) => {
    const isNews = next !== state;
    state = next;
    if (error !== undefined) {
      if (isNews) logger.error({ node: adminUrl, err: error }, message);
      onFailure(error);
    } else if (isNews) {
      logger.info({ node: adminUrl }, message);
    }
  };
  return { state: () => state, note };
}

function logDifferences(
  { adminUrl, logger }: NodeFollowerOptions,
  { base, keys, strays, same }: Awaited<ReturnType<typeof compareNode>>,
): void {
  if (base.length + keys.size + strays.length === 0) return;
  const counts = { base: base.length, keys: keys.size, strays: strays.length, same };
  logger.info({ node: adminUrl, ...counts }, "a gateway node differs from what is wanted");
}

/** Tells how many entities of others there are at each comparison, and logs them when they are other ones. */
function createForeignLog({ adminUrl, logger, onForeign }: NodeFollowerOptions) {
  let logged = "";
  return (names: string[]) => {
    onForeign(names.length);
    if (names.length > 0 && names.join() !== logged) {
      const entities = names.slice(0, namedForeign);
      logger.warn(
        { node: adminUrl, count: names.length, entities },
        "Kong's database has entities of others",
      );
    }
    logged = names.join();
  };
}
