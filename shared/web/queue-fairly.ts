import { groupAddress } from "./group-address.ts";

/** The queue was full, the wait too long, or the client left. */
export class QueueRefused extends Error {
  override name = "QueueRefused";
}

interface QueueOptions {
  /** How many tasks run at a time. */
  atATime: number;
  /** How many may wait. */
  places: number;
  /** How long each may wait. */
  seconds: number;
}

/**
 * Runs a task when it is its turn.
 *
 * @param address the client IP
 * @param left aborts when the client leaves, which gives up its place
 * @throws QueueRefused, and what the task throws
 */
type Queue = <Result>(address: string, left: AbortSignal, task: () => Promise<Result>) => Promise<Result>;

interface Waiting {
  start: () => void;
  refuse: () => void;
}

/**
 * Creates a queue in which client networks take turns, however many requests each of them sends. If the queue is full, the network
 * with the most waiting requests loses its last one.
 */
export function queueFairly({ atATime, places, seconds }: QueueOptions): Queue {
  /** The waiting tasks of each network. The first network has the next turn. */
  const lines = new Map<string, Waiting[]>();
  let running = 0;

  const setLine = (network: string, line: Waiting[]) => {
    if (line.length > 0) lines.set(network, line);
    else lines.delete(network);
  };
  const startNext = () => {
    for (const [network, [next, ...others]] of lines) {
      if (running >= atATime) return;
      running += 1;
      next?.start();
      // The network goes to the end.
      lines.delete(network);
      setLine(network, others);
    }
  };
  const refuseLast = () => {
    const [network, line] = [...lines].reduce((one, other) =>
      other[1].length >= one[1].length ? other : one,
    );
    line.at(-1)?.refuse();
    setLine(network, line.slice(0, -1));
  };
  const wait = (network: string, end: AbortSignal) =>
    new Promise<void>((start, reject) => {
      const refuse = () =>
        reject(new QueueRefused("The queue was full, the wait too long, or the client left."));
      const waiting = { start, refuse };
      const line = () => lines.get(network) ?? [];
      setLine(network, [...line(), waiting]);
      end.addEventListener("abort", () => {
        setLine(
          network,
          line().filter((each) => each !== waiting),
        );
        refuse();
      });
    });

  return async (address, left, task) => {
    const turn = wait(groupAddress(address), AbortSignal.any([left, AbortSignal.timeout(seconds * 1000)]));
    startNext();
    if ([...lines.values()].flat().length > places) refuseLast();
    await turn;
    try {
      return await task();
    } finally {
      running -= 1;
      startNext();
    }
  };
}
