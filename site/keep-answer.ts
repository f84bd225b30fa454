import { setTimeout as sleep } from "node:timers/promises";

const keepBrieflyMilliseconds = 3000;
const patienceMilliseconds = 2000;

/**
 * Creates a function that returns the answer to a query, and keeps it for a while. If the query fails or takes longer than 2
 * seconds, it resolves to the last good answer. If there is none, it waits for the query, and resolves to undefined if that fails.
 * The database gets one query at a time, however many requests wait.
 *
 * @param keepFor how long to keep an answer, in milliseconds; 3 seconds by default
 */
export function keepAnswer<Answer>(
  ask: () => Promise<Answer>,
  keepFor: (answer: Answer) => number | undefined,
  onError: (error: unknown) => void,
): () => Promise<Answer | undefined> {
  let answered: Promise<unknown> | undefined;
  let last: Answer | undefined;
  let askAgainAt = 0;
  const keep = (milliseconds = keepBrieflyMilliseconds) => {
    askAgainAt = performance.now() + milliseconds;
  };
  const askOnce = async () => {
    try {
      last = await ask();
      keep(keepFor(last));
    } catch (error) {
      keep();
      onError(error);
    }
  };
  return async () => {
    if (answered === undefined || performance.now() > askAgainAt) {
      // Until the database has answered, every request waits for this query.
      askAgainAt = Number.POSITIVE_INFINITY;
      const asked = askOnce();
      answered =
        last === undefined
          ? asked
          : Promise.race([asked, sleep(patienceMilliseconds, undefined, { ref: false })]);
    }
    await answered;
    return last;
  };
}
