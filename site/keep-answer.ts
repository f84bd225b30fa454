import { setTimeout as sleep } from "node:timers/promises";

const keepBrieflyMilliseconds = 3000;
const patienceMilliseconds = 2000;

/** The live data set, when this process last read it. */
export interface LiveDataSet {
  id: string | undefined;
}

/**
 * Creates a function that returns the answer to a query, and keeps it for a while, but only until a data set is published. If the query fails,
 * or takes longer than 2 seconds and no data set was published since, it resolves to the last good answer. If there is none, it waits for the
 * query, and resolves to undefined if that fails. The database gets one query at a time, however many requests wait.
 *
 * With isPatient = false, the function waits for no query if there is a last answer.
 *
 * @param keepFor how long to keep an answer, in milliseconds; 3 seconds by default
 */
export function keepAnswer<Answer>(
  ask: () => Promise<Answer>,
  keepFor: (answer: Answer) => number | undefined,
  onError: (error: unknown) => void,
  live: LiveDataSet,
): (isPatient?: boolean) => Promise<Answer | undefined> {
  let answered: Promise<unknown> | undefined;
  let last: Answer | undefined;
  let askAgainAt = 0;
  let askedFor: string | undefined;
  const keep = (milliseconds = keepBrieflyMilliseconds) => {
    askAgainAt = performance.now() + milliseconds;
  };
  const askOnce = async () => {
    askedFor = live.id;
    try {
      last = await ask();
      keep(keepFor(last));
    } catch (error) {
      keep();
      onError(error);
    }
  };
  const awaitAnswer = () => {
    const isAsking = askAgainAt === Number.POSITIVE_INFINITY;
    const isOld = askedFor !== live.id;
    if (performance.now() > askAgainAt || (isOld && !isAsking)) {
      // Until the database has answered, every request waits for this query.
      askAgainAt = Number.POSITIVE_INFINITY;
      const asked = askOnce();
      answered =
        last === undefined || isOld
          ? asked
          : Promise.race([asked, sleep(patienceMilliseconds, undefined, { ref: false })]);
    }
    return answered;
  };
  return async (isPatient = true) => {
    const answer = awaitAnswer();
    if (!isPatient && last !== undefined) return last;
    await answer;
    // A query that started before a publication may have returned rows of the old data set.
    if (askedFor !== live.id) await awaitAnswer();
    return last;
  };
}
