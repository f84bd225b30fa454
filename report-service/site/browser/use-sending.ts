import { useEffect, useState } from "preact/hooks";
import type { Query } from "../query.ts";
import type { ApiRequest } from "../request-snippets.ts";
import { saveFile } from "./save-file.ts";
import { type Answer, sendRequest } from "./send-request.ts";

/** What came of the last request. */
export type Outcome = { answer: Answer; query: Query } | { problem: string };

export interface Sending {
  isWaiting: boolean;
  /** Undefined until something was sent, and once the address names another query. */
  outcome: Outcome | undefined;
  ask: (query: Query) => Promise<void>;
  /** Saves the answer as a CSV file; shows it, if it is an error. */
  download: (query: Query) => Promise<void>;
}

/** Sends queries with a key, and keeps what came of the last one. */
export function useSending(describe: (query: Query) => ApiRequest, key: string): Sending {
  const [isWaiting, setIsWaiting] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => {
    const forget = () => setOutcome(undefined);
    addEventListener("hashchange", forget);
    return () => removeEventListener("hashchange", forget);
  }, []);

  const send = async (asked: Query, headers: Record<string, string> = {}) => {
    setIsWaiting(true);
    try {
      const request = describe(asked);
      return await sendRequest(request.url, { ...request.headers, ...headers }, key);
    } catch (error) {
      setOutcome({ problem: error instanceof Error ? error.message : String(error) });
      return undefined;
    } finally {
      setIsWaiting(false);
    }
  };
  const ask = async (asked: Query) => {
    const answer = await send(asked);
    if (answer !== undefined) setOutcome({ answer, query: asked });
  };
  const download = async (query: Query) => {
    const answer = await send(query, { accept: "text/csv" });
    if (answer === undefined) return;
    if (answer.status === 200 || answer.status === 206) saveFile(`${query.table}.csv`, answer.text);
    else setOutcome({ answer, query });
  };
  return { isWaiting, outcome, ask, download };
}
