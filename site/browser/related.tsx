import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { VersionDescription } from "../api-description.ts";
import { linkToExplorer } from "../example-request.ts";
import { emptyQuery, type Filter } from "../query.ts";
import { writeTarget } from "../write-target.ts";
import { readLimits } from "./limits.ts";
import type { Row } from "./read-outcome.ts";
import { isGood, sendRequest } from "./send-request.ts";
import type { Explorer } from "./use-explorer.ts";

/** Fewer requests than these are left to the visitor. */
const spared = 10;
/** Rows by table, of reports whose rows were counted in this page. */
const counted = new Map<string, Record<string, number>>();

/**
 * Links from a row to the rows of its report in every table, to the other reports of the auditee and to the PDF. How many
 * rows there are is asked for in one request, by itself as long as the key has some to spare.
 */
export function Related({
  row,
  reportId,
  tableName,
  version,
  apiUrl,
  explorer,
  leave,
}: {
  row: Row;
  reportId: string;
  tableName: string;
  version: VersionDescription | undefined;
  apiUrl: string;
  explorer: Explorer;
  leave: () => void;
}): VNode {
  const { key, latest, noteAnswer } = explorer;
  const place = `${version?.schema} ${key} ${reportId}`;
  const [counts, setCounts] = useState(counted.get(place));
  const [said, setSaid] = useState("");
  const general = version?.tables.find(({ name }) => name === "general");
  const count = async () => {
    setSaid("Counting …");
    const target = writeTarget({
      ...emptyQuery,
      filters: [{ column: "report_id", operator: "eq", value: reportId }],
      extra: `select=${(general?.embeds ?? []).map((name) => `${name}(report_id)`).join(",")}`,
      limit: 1,
    });
    try {
      const headers = { "accept-profile": version?.schema ?? "" };
      const answer = await sendRequest(apiUrl + target, { headers, key });
      noteAnswer(answer);
      const [found] = isGood(answer) ? (JSON.parse(answer.text) as Record<string, unknown>[]) : [];
      if (found === undefined) return setSaid("These could not be counted.");
      const made = Object.fromEntries(
        Object.entries(found).map(([name, rows]) => [name, Array.isArray(rows) ? rows.length : rows ? 1 : 0]),
      );
      counted.set(place, { general: 1, ...made });
      setCounts(counted.get(place));
      setSaid("");
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
  };
  const isSpared = latest !== undefined && readLimits(latest).left < spared;
  useEffect(() => {
    if (counts === undefined && !isSpared) void count();
  }, []);

  const link = (table: string, filters: Filter[], order = emptyQuery.order) =>
    linkToExplorer(version?.schema ?? "", { ...emptyQuery, table, filters, order, limit: 100 });
  const auditee = findAuditee(row);
  return (
    <nav class="related" aria-label="What belongs to this row">
      <ul class="toc">
        {row.is_public !== false && (
          <li>
            <a href={`/dissemination/report/pdf/${reportId}`}>PDF of the report</a>
          </li>
        )}
        {auditee && (
          <li>
            <a
              href={link("general", [auditee], [{ column: "audit_year", direction: "desc.nullslast" }])}
              onClick={leave}
            >
              All reports of this auditee
            </a>
          </li>
        )}
        {(version?.tables ?? [])
          .filter(
            ({ name, columns }) =>
              name !== tableName && columns.some((column) => column.name === "report_id"),
          )
          .map(({ name, title }) => (
            <li key={name}>
              <a
                href={link(name, [{ column: "report_id", operator: "eq", value: reportId }])}
                onClick={leave}
              >
                {title}
              </a>
              {counts?.[name] !== undefined && ` (${counts[name]?.toLocaleString("en-US")})`}
            </li>
          ))}
      </ul>
      <p role="status" class="hint">
        {said}
      </p>
      {counts === undefined && said === "" && (
        <button type="button" class="small plain" onClick={() => void count()}>
          Count the rows (1 request)
        </button>
      )}
    </nav>
  );
}

/** By what all reports of a row's auditee are found. Records older than UEIs share one. */
function findAuditee(row: Row): Filter | undefined {
  const { auditee_uei: uei, auditee_ein: ein } = row;
  if (typeof uei === "string" && uei.length === 12 && uei !== "GSA_MIGRATION") {
    return { column: "auditee_uei", operator: "eq", value: uei };
  }
  return typeof ein === "string" && ein !== ""
    ? { column: "auditee_ein", operator: "eq", value: ein }
    : undefined;
}
