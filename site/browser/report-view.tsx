import type { VNode } from "preact";
import { formatValue } from "../format-value.ts";
import { findColumn, orderColumns } from "../table-facts.ts";
import { linkToExplorer } from "../write-target.ts";
import type { Outcome } from "./outcome.ts";
import { PrivatePdf } from "./private-pdf.tsx";
import { findReport, isHidden, isStub } from "./rows.ts";
import { SuppressedNotice } from "./suppressed-notice.tsx";
import type { Shown } from "./use-explorer.ts";

/** A report's title: the auditee's name, or else the report ID. */
export const describeReport = ({ rows: [report] = [] }: Outcome): string =>
  String(report?.auditee_name ?? report?.report_id);

/** A report in full. Only keys with Tribal access see a suppressed one; a public one has its own page. */
export function ReportView({ explorer, outcome }: Shown): VNode | null {
  const { rows: [report] = [], table } = outcome;
  if (report === undefined) return null;
  const { auditee_city: city, auditee_state: state, audit_year: year, report_id: id } = report;
  return (
    <>
      {isStub(report) ? (
        <SuppressedNotice explorer={explorer} outcome={outcome} />
      ) : (
        <>
          <p>{[city, state, year, id].filter(Boolean).join(" · ")}</p>
          {report.is_public === false ? (
            <PrivatePdf explorer={explorer} outcome={outcome} reportId={String(id)} />
          ) : (
            <p>
              <a class="button" href={`/record/${id}`}>
                The page of this report
              </a>
            </p>
          )}
          <RelatedRows explorer={explorer} outcome={outcome} />
        </>
      )}
      <dl class="values">
        {orderColumns(Object.keys(report))
          .map((name) => findColumn(table, name))
          .filter((column) => column !== undefined)
          .map(({ name, label, words }) => (
            <div key={name}>
              <dt>{label}</dt>
              <dd>{isHidden(report, name) ? "suppressed" : formatValue(name, report[name], words)}</dd>
            </div>
          ))}
      </dl>
    </>
  );
}

/** Links to the report's rows of other tables, with their number. */
function RelatedRows({ explorer, outcome: { asked, rows: [report] = [] } }: Shown): VNode {
  const version = explorer.versions.find(({ schema }) => schema === asked.schema);
  const tables = version?.tables.map(({ name, title }) => ({
    name,
    title,
    count: [report?.[name] ?? []].flat().length,
    isEmbedded: report !== undefined && name in report,
  }));
  return (
    <nav aria-label="Related rows">
      <ul class="toc">
        {tables
          ?.filter(({ isEmbedded }) => isEmbedded)
          .map(({ name, title, count }) => (
            <li key={name}>
              {count === 0 ? (
                `${title}: none`
              ) : (
                <a href={linkToExplorer(asked.schema, findReport(name, report?.report_id))}>
                  {title} ({count.toLocaleString("en-US")})
                </a>
              )}
            </li>
          ))}
      </ul>
    </nav>
  );
}
