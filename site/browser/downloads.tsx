import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { largestLimit, type Query } from "../query.ts";
import { chooseTieBreakers } from "../table-facts.ts";
import { writeTarget } from "../write-target.ts";
import { type Answer, ask, countRequestsLeft, formatCount, isGood } from "./ask.ts";
import { Refusal } from "./refusal.tsx";
import { adaptForSpreadsheets, byteOrderMark } from "./spreadsheet-csv.ts";
import type { Shown } from "./use-explorer.ts";

const hint =
  'CSV for spreadsheets: codes are written as ="010" to keep their zeros, and text that looks like a formula starts with an apostrophe.';

/** Buttons that save all rows of a query, not only the ones that are shown, as one CSV file. */
export function Downloads({ explorer, outcome }: Shown): VNode {
  const { asked, key, answer, total, table } = outcome;
  const [text, setText] = useState("");
  const [refused, setRefused] = useState<Answer>();
  const [isRunning, setIsRunning] = useState(false);
  const running = useRef(new AbortController());
  useEffect(() => () => running.current.abort(), []);
  const requests = Math.ceil(total / largestLimit);
  const isTooMuch = requests > countRequestsLeft(answer);

  const save = async (isForSpreadsheets: boolean) => {
    running.current = new AbortController();
    const { signal } = running.current;
    setRefused(undefined);
    setText("Downloading …");
    setIsRunning(true);
    const pages: string[] = [];
    let page: Answer | undefined;
    for (let offset = 0, count = largestLimit; count === largestLimit; offset += largestLimit) {
      const query = { ...asked.query, limit: largestLimit, offset };
      const headers = {
        accept: "text/csv",
        "accept-profile": asked.schema,
        // All pages are of the data set of the first.
        ...(page && { "if-match": page.headers.etag ?? "*" }),
      };
      const url = explorer.settings.apiUrl + writeTarget(query, chooseTieBreakers(query, table));
      page = await ask(url, { headers, key, signal });
      if (!isGood(page)) break;
      const [, end = "-1"] = /^\d+-(\d+)/.exec(page.headers["content-range"] ?? "") ?? [];
      count = Number(end) + 1 - offset;
      // Each page starts with the names of the columns, which contain no line break.
      const start = offset === 0 ? 0 : page.text.indexOf("\n") + 1;
      pages.push(`${page.text.slice(start).replace(/\n$/, "")}\n`);
      setText(`${formatCount(offset + count, "row")} saved.`);
    }
    setIsRunning(false);
    if (signal.aborted) return setText("Canceled.");
    if (page && isGood(page)) {
      const parts = isForSpreadsheets ? [byteOrderMark, ...pages.map(adaptForSpreadsheets)] : pages;
      return saveFile(`${describeFile(asked.query)}.csv`, parts);
    }
    setText("");
    setRefused(page);
  };
  const cost = requests > 1 ? ` (about ${formatCount(requests, "request")})` : "";
  return (
    <>
      {isRunning && (
        <button type="button" class="plain" onClick={() => running.current.abort()}>
          Cancel
        </button>
      )}
      {!isRunning &&
        !isTooMuch &&
        ["CSV", "CSV for spreadsheets"].map((name, index) => (
          <button key={name} type="button" class="plain" onClick={() => void save(index === 1)}>
            {name + cost}
          </button>
        ))}
      {isTooMuch && (
        <span>
          Downloading these rows takes about {formatCount(requests, "request")}, more than your key has left.{" "}
          {explorer.settings.hasPublicData && (
            <a href={`/public-data/${asked.query.table}.csv.gz`}>Download the whole table as a file</a>
          )}
        </span>
      )}
      <span role="status" class="hint">
        {text || hint}
      </span>
      {refused && <Refusal answer={refused} explorer={explorer} table={asked.query.table} />}
    </>
  );
}

/** A file name that says table and filters: `general-auditee_state-TX-audit_year-2023`. */
function describeFile({ table, filters, extra }: Query): string {
  const parts = filters.flatMap(({ column, operator, value }) => [
    column,
    operator === "eq" ? "" : operator,
    value,
  ]);
  return [table, ...parts, extra]
    .map((part) => part.replace(/[^\p{L}\p{N}_]+/gu, "-").replace(/^-|-$/g, ""))
    .filter(Boolean)
    .join("-")
    .slice(0, 120);
}

function saveFile(name: string, parts: string[]): void {
  const url = URL.createObjectURL(new Blob(parts, { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // By then the browser has read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
