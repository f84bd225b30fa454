import { useState } from "preact/hooks";
import { largestLimit, type Query } from "../query.ts";
import { writeTarget } from "../write-target.ts";
import { type Answer, formatCount, isGood } from "./ask.ts";
import type { Shown } from "./use-explorer.ts";

export type Read = ReturnType<typeof useReading>["read"];

/** Reads all rows of a query, as many at a time as the API allows, and shows its progress. */
export function useReading({ explorer, outcome: { asked, key } }: Shown) {
  const [status, setStatus] = useState("");
  const [refused, setRefused] = useState<Answer>();
  const [isRunning, setIsRunning] = useState(false);

  /** Calls `take` with each page and the number of rows so far. Returns whether it got all rows. */
  const read = async (wanted: Query, accept: string, take: (page: Answer, end: number) => void) => {
    setRefused(undefined);
    setStatus("Reading …");
    setIsRunning(true);
    let page: Answer | undefined;
    for (let offset = 0, count = largestLimit; count === largestLimit; offset += largestLimit) {
      const query = { ...wanted, limit: largestLimit, offset };
      // All pages must come from the first page's data set.
      const etag = page && { "if-match": page.headers.etag ?? "*" };
      const headers = { accept, "accept-profile": asked.schema, ...etag };
      page = await explorer.askApi(writeTarget(query), { headers, key });
      if (!isGood(page)) break;
      const [, end = "-1"] = /^\d+-(\d+)/.exec(page.headers["content-range"] ?? "") ?? [];
      count = Number(end) + 1 - offset;
      take(page, offset + count);
      setStatus(`${formatCount(offset + count, "row")} read.`);
    }
    const isWhole = page !== undefined && isGood(page);
    setIsRunning(false);
    if (!isWhole) setRefused(page);
    return isWhole;
  };
  return { read, status, refused, isRunning };
}
