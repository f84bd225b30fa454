import type { Logger } from "pino";
import { DocumentRefused, emptyHash, postDocument, readConfigurationHash } from "./admin-client.ts";

/** A rendered configuration, as it is posted. */
export interface RenderedDocument {
  bytes: Uint8Array;
  sha256: string;
  /** When the change that it shows was heard of. */
  changedAt: number;
}

/** `waiting`: for the first document; `current`: it has the newest one; `refusing`: it keeps an older one. */
export type NodeState = "waiting" | "current" | "refusing" | "away";

export interface NodeFollowerOptions {
  adminUrl: string;
  /** What must not stand in a log. */
  secrets: readonly string[];
  logger: Logger;
  /** The node has taken the newest document: newly, or once more. */
  onAccepted: (document: RenderedDocument, isNew: boolean) => void;
  onFailure: (error: Error) => void;
}

export interface NodeFollower {
  state: () => NodeState;
  /** Sees to it that the node gets this document. */
  want: (document: RenderedDocument) => void;
  close: () => Promise<void>;
}

/** A node that has started anew has no configuration, and refuses everyone until it gets one. */
const pollMilliseconds = 1_000;
const repeatMilliseconds = 60_000;
const shortestRetryMilliseconds = 250;
const longestRetryMilliseconds = 2_000;

/**
 * Keeps one node of the gateway at the newest document, whatever becomes of the others. The document is posted
 * when it changes, when the node shows another configuration than the one it was given (it was restarted), and
 * every minute; a node that is away is tried again and again.
 */
export function followNode(options: NodeFollowerOptions): NodeFollower {
  const { adminUrl, logger } = options;
  const aborted = new AbortController();
  let wanted: RenderedDocument | undefined;
  /** The document that the node took last, and the node's hash of it. */
  let accepted: { sha256: string; hash: string } | undefined;
  let postedAt = 0;
  /** Whatever is wanted has been refused; it is not offered again before it changes or a minute has passed. */
  let refused: string | undefined;
  let state: NodeState = "waiting";
  const { sleep, wake } = createSleeper();

  async function bringUpToDate(): Promise<void> {
    const document = wanted;
    if (document === undefined) return;
    const hash = await readConfigurationHash(adminUrl, aborted.signal);
    const isDue = Date.now() - postedAt >= repeatMilliseconds;
    const isKept = accepted?.sha256 === document.sha256 && accepted.hash === hash && hash !== emptyHash;
    if (isKept && !isDue) return note("current", "a gateway node is back");
    if (refused === document.sha256 && !isDue) return note("refusing", "a gateway node is back");
    const startedAt = Date.now();
    postedAt = 0;
    const refusal = await offerDocument(options, document.bytes, aborted.signal);
    postedAt = startedAt;
    if (refusal !== undefined) {
      refused = document.sha256;
      return note("refusing", "a gateway node refused the configuration and keeps the one it has", refusal);
    }
    refused = undefined;
    const isNew = accepted?.sha256 !== document.sha256;
    accepted = { sha256: document.sha256, hash: await readConfigurationHash(adminUrl, aborted.signal) };
    note("current", "a gateway node has the newest configuration");
    options.onAccepted(document, isNew);
  }

  /** Logs what is new about the node, not what stays as it was. */
  function note(next: NodeState, message: string, error?: Error): void {
    const isNews = next !== state || error instanceof DocumentRefused;
    state = next;
    if (error !== undefined) {
      if (isNews) logger.error({ node: adminUrl, err: error }, message);
      options.onFailure(error);
    } else if (isNews) {
      logger.info({ node: adminUrl }, message);
    }
  }

  const ended = repeat(bringUpToDate, {
    signal: aborted.signal,
    sleep,
    onFailure: (error) => note("away", "a gateway node is away; it is tried again", error),
  });
  return {
    state: () => state,
    want: (document) => {
      const isNew = document.sha256 !== wanted?.sha256;
      wanted = document;
      // A node that is away is not asked more often because keys change.
      if (isNew && state !== "away") wake();
    },
    close: async () => {
      aborted.abort();
      wake();
      await ended;
    },
  };
}

/** Does the work again and again, sooner after a failure; the pauses grow from failure to failure. */
async function repeat(
  work: () => Promise<void>,
  parts: {
    signal: AbortSignal;
    sleep: (milliseconds: number) => Promise<void>;
    onFailure: (error: Error) => void;
  },
): Promise<void> {
  let failures = 0;
  while (!parts.signal.aborted) {
    let pause = pollMilliseconds;
    try {
      await work();
      failures = 0;
    } catch (error) {
      if (parts.signal.aborted) return;
      pause = Math.min(longestRetryMilliseconds, shortestRetryMilliseconds * 2 ** failures);
      failures += 1;
      parts.onFailure(error as Error);
    }
    await parts.sleep(pause);
  }
}

/** Posts a document. Returns the node's refusal, if it refused. */
async function offerDocument(
  { adminUrl, secrets }: NodeFollowerOptions,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<DocumentRefused | undefined> {
  try {
    await postDocument(adminUrl, bytes, secrets, signal);
  } catch (error) {
    if (error instanceof DocumentRefused) return error;
    throw error;
  }
  return undefined;
}

/** A sleep that ends early when it is woken, and at once when that was before. */
function createSleeper(): { sleep: (milliseconds: number) => Promise<void>; wake: () => void } {
  let isWoken = false;
  let end: (() => void) | undefined;
  return {
    wake: () => {
      isWoken = true;
      end?.();
    },
    sleep: async (milliseconds) => {
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        end = undefined;
      }
      isWoken = false;
    },
  };
}
