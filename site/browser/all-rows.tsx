import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { largestLimit, type Query } from "../query.ts";
import { addAuditee, chooseTieBreakers, completeColumns, findNarrative } from "../table-facts.ts";
import { writeTarget } from "../write-target.ts";
import { type Answer, formatCount, isGood } from "./ask.ts";
import { formatValue } from "./format-value.ts";
import type { Row } from "./outcome.ts";
import { Refusal } from "./refusal.tsx";
import { adaptForSpreadsheets, byteOrderMark } from "./spreadsheet-csv.ts";
import type { Shown } from "./use-explorer.ts";

const hint =
  '“CSV” has the same values as the API, with t for true and f for false. “CSV for spreadsheets” (for Excel, for example) writes codes as ="010" to keep their leading zeros, and puts an apostrophe before text that looks like a formula.';

/** Saves all rows that match the query, not only this page's, as CSV files, and adds up their dollars. */
export function AllRows({ explorer, outcome, children }: Shown & { children: ComponentChildren }): VNode {
  const { asked, key, rows = [], table, total } = outcome;
  const [status, setStatus] = useState("");
  const [sum, setSum] = useState<{ dollars: number; rows: number }>();
  const [refused, setRefused] = useState<Answer>();
  const [isRunning, setIsRunning] = useState(false);

  /** Reads the rows, as many at a time as the API allows. Returns whether it got all of them. */
  const read = async (wanted: Query, accept: string, take: (page: string, end: number) => void) => {
    setRefused(undefined);
    setStatus("Reading …");
    setIsRunning(true);
    let page: Answer | undefined;
    for (let offset = 0, count = largestLimit; count === largestLimit; offset += largestLimit) {
      const query = { ...wanted, limit: largestLimit, offset };
      // All pages must come from the first page's data set.
      const etag = page && { "if-match": page.headers.etag ?? "*" };
      const headers = { accept, "accept-profile": asked.schema, ...etag };
      page = await explorer.askApi(writeTarget(query, chooseTieBreakers(query, table)), { headers, key });
      if (!isGood(page)) break;
      const [, end = "-1"] = /^\d+-(\d+)/.exec(page.headers["content-range"] ?? "") ?? [];
      count = Number(end) + 1 - offset;
      take(page.text, offset + count);
      setStatus(`${formatCount(offset + count, "row")} read.`);
    }
    const isWhole = page !== undefined && isGood(page);
    setIsRunning(false);
    if (!isWhole) setRefused(page);
    return isWhole;
  };
  const save = async (isForSpreadsheets: boolean) => {
    const pages = isForSpreadsheets ? [byteOrderMark] : [];
    const query = (isForSpreadsheets ? completeColumns : addAuditee)(asked.query, table);
    const isWhole = await read(query, "text/csv", (text, end) => {
      const page = isForSpreadsheets ? adaptForSpreadsheets(text) : text;
      // Each page starts with a header line. Column names contain no line break.
      const start = end <= largestLimit ? 0 : page.indexOf("\n") + 1;
      pages.push(`${page.slice(start).replace(/\n$/, "")}\n`);
    });
    if (isWhole) saveFile(`${describeFile(asked.query)}.csv`, pages);
  };
  const money = ["total_amount_expended", "amount_expended"].find((name) => name in (rows[0] ?? {})) ?? "";
  const add = (some: Row[]) => some.reduce((dollars, row) => dollars + Number(row[money] ?? 0), 0);
  const addAll = async () => {
    const found = { dollars: 0, rows: 0 };
    const select = [money, ...asked.query.select.filter((term) => term.includes("("))];
    const isWhole = await read({ ...asked.query, select, order: [] }, "application/json", (text, end) => {
      found.dollars += add(JSON.parse(text));
      found.rows = end;
    });
    if (isWhole) setSum(found);
  };
  const requests = formatCount(Math.ceil(total / largestLimit), "request");
  const canAdd = money !== "" && rows.length < total;
  const jobs: [name: string, start: () => void][] = [
    ["CSV", () => void save(false)],
    ["CSV for spreadsheets", () => void save(true)],
    ["Add up all rows", () => void addAll()],
  ];
  const added = rows.length === total ? { dollars: add(rows), rows: total } : sum;
  const findings = new Set(rows.map((row) => `${row.report_id} ${row.reference_number}`)).size;
  return (
    <>
      <div class="row">
        {children}
        {rows.length > 0 &&
          jobs.slice(0, canAdd ? 3 : 2).map(([name, start]) => (
            <button
              key={name}
              type="button"
              class="plain"
              aria-disabled={isRunning}
              onClick={() => !isRunning && start()}
            >
              {name}
              {total > largestLimit && ` (about ${requests})`}
            </button>
          ))}
        <span role="status" class="hint">
          {status || (rows.length > 0 && hint)}
        </span>
      </div>
      {refused && <Refusal answer={refused} explorer={explorer} table={asked.query.table} />}
      {money !== "" && (
        <p>
          {table?.columns.find(({ name }) => name === money)?.label}
          {total > 1 &&
            `, sum of ${added ? "all" : "this page’s"} ${formatCount(added?.rows ?? rows.length, "row")}`}
          : <b>{formatValue(money, added?.dollars ?? add(rows))}</b>
        </p>
      )}
      {table && findNarrative(table)?.text && (
        <p>
          A long text takes several rows, in the order of the text, and a filter on the text finds only the
          rows that match. Open a row to read the whole text.
        </p>
      )}
      {asked.query.table === "findings" && rows[0]?.report_id && rows[0].reference_number && (
        <p>
          A finding has one row for each award it affects. On this page: {formatCount(rows.length, "row")},{" "}
          {formatCount(findings, "finding")}.
        </p>
      )}
    </>
  );
}

/** Returns a file name with the table and the filters: `general-auditee_state-TX-audit_year-2023`. */
function describeFile({ table, filters, extra }: Query): string {
  const parts = filters.map(({ column, operator, value }) => [column, operator.replace(/^eq$/, ""), value]);
  const words = [table, ...parts.flat(), extra].join(" ").match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.join("-").slice(0, 120);
}

function saveFile(name: string, parts: string[]): void {
  const href = URL.createObjectURL(new Blob(parts, { type: "text/csv;charset=utf-8" }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
