import { useRef, useState } from "preact/hooks";
import { linkToExplorer } from "../write-target.ts";
import { type Outcome, readAddress, readRows, type Written } from "./outcome.ts";
import type { Api } from "./use-api.ts";

type Enter = "pushState" | "replaceState";

/** The last response, and the function that sends the next request. */
export function useOutcome({ askApi, key }: Api) {
  const [outcome, setOutcome] = useState<Outcome>();
  const [isWaiting, setIsWaiting] = useState(() => readAddress(location.hash) !== undefined);
  const running = useRef(new AbortController());
  /** Responses by URL and key, so that going back sends no request. */
  const seen = useRef(new Map<string, Outcome>());

  const abort = () => {
    running.current.abort();
    running.current = new AbortController();
    return running.current.signal;
  };

  return {
    outcome,
    isWaiting,
    /** Sends a request and shows the response, at an address of its own. */
    send: async (written: Written, enter: Enter, etag?: string) => {
      const { asked, target } = written;
      const address = linkToExplorer(asked.schema, asked.query, asked.isRow);
      history[address === `/explorer${location.hash}` ? "replaceState" : enter](null, "", address);
      const signal = abort();
      setIsWaiting(true);
      const headers = {
        "accept-profile": asked.schema,
        // The count is exact up to the limit of one response. Beyond that, counting would cost more than the rows.
        prefer: "count=estimated",
        ...(etag && { "if-match": etag }),
      };
      const answer = await askApi(target, { headers, signal });
      if (signal.aborted) return;
      const found = { ...written, key, answer, ...readRows(answer) };
      if (found.rows !== undefined) seen.current.set(address + key, found);
      setOutcome(found);
      setIsWaiting(false);
    },
    findSeen: (address: string) => seen.current.get(address + key),
    /** Shows a response that was seen before, or none. */
    show: (known: Outcome | undefined) => {
      abort();
      setIsWaiting(false);
      setOutcome(known);
    },
  };
}
