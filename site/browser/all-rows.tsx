import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { formatValue } from "../format-value.ts";
import { largestLimit } from "../query.ts";
import { isSplit } from "../table-facts.ts";
import { formatCount } from "./ask.ts";
import type { Outcome } from "./outcome.ts";
import { Refusal } from "./refusal.tsx";
import type { Row } from "./rows.ts";
import { saveCsv } from "./save-csv.ts";
import { Unmatched } from "./unmatched.tsx";
import type { Shown } from "./use-explorer.ts";
import { type Read, useReading } from "./use-reading.ts";

const hint =
  '“CSV” has the same values as the API, with t for true and f for false. “CSV for spreadsheets” (for Excel, for example) writes codes as ="010" to keep their leading zeros, and puts an apostrophe before text that looks like a formula.';

interface Sum {
  dollars: number;
  rows: number;
}

/** What can be done with all rows that match the query, not only this page's: save them as CSV, and add up their dollars. */
export function AllRows({ explorer, outcome, children }: Shown & { children: ComponentChildren }): VNode {
  const { asked, rows = [], total } = outcome;
  const { read, status, refused, isRunning } = useReading({ explorer, outcome });
  const [sum, setSum] = useState<Sum>();
  const money = findMoney(rows);
  const requests = formatCount(Math.ceil(total / largestLimit), "request");
  const jobs: [name: string, start: () => void][] = [
    ["CSV", () => void saveCsv(read, explorer, outcome, false)],
    ["CSV for spreadsheets", () => void saveCsv(read, explorer, outcome, true)],
    ["Add up all rows", () => void addUp(read, outcome, money).then(setSum)],
  ];
  const canAdd = money !== "" && rows.length < total;
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
      <Unmatched explorer={explorer} outcome={outcome} />
      <Notes outcome={outcome} sum={rows.length === total ? undefined : sum} />
    </>
  );
}

/** The column with dollars that can be added up. Suppressed reports have none, and several findings may share an award. */
const findMoney = (rows: Row[]) =>
  ["total_amount_expended", "amount_expended"].find(
    (name) =>
      !rows.some((row) => "reference_number" in row) && rows.some((row) => Number.isFinite(row[name])),
  ) ?? "";
const add = (rows: Row[], money: string) =>
  rows.reduce((dollars, row) => dollars + Number(row[money] ?? 0), 0);

async function addUp(read: Read, { asked: { query } }: Outcome, money: string): Promise<Sum | undefined> {
  const found = { dollars: 0, rows: 0 };
  const select = [money, ...query.select.filter((term) => term.includes("("))];
  const isWhole = await read({ ...query, select, order: [] }, "application/json", ({ text }, end) => {
    found.dollars += add(JSON.parse(text), money);
    found.rows = end;
  });
  return isWhole ? found : undefined;
}

/** The dollars of the rows, or of all rows if they were added up, and what the rows of a table stand for. */
function Notes({
  outcome: { asked, rows = [], table, total },
  sum,
}: {
  outcome: Outcome;
  sum: Sum | undefined;
}): VNode {
  const money = findMoney(rows);
  const isAll = sum !== undefined || rows.length === total;
  const findings = new Set(rows.map((row) => `${row.report_id} ${row.reference_number}`)).size;
  return (
    <>
      {money !== "" && (
        <p>
          {table?.columns.find(({ name }) => name === money)?.label}
          {total > 1 &&
            `, sum of ${isAll ? "all" : "this page’s"} ${formatCount(sum?.rows ?? rows.length, "row")}`}
          : <b>{formatValue(money, sum?.dollars ?? add(rows, money))}</b>
        </p>
      )}
      {table && isSplit(table) && (
        <p>
          A long text takes several rows, in the order of the text, and a filter on the text finds only the
          rows that match.
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
