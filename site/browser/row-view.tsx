import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Table, VersionDescription } from "../api-description.ts";
import { linkRowAudits } from "../link-total.ts";
import { linkToExplorer } from "../write-target.ts";
import type { Outcome } from "./outcome.ts";
import { ReportPdf } from "./report-pdf.tsx";
import { isStub, listLinks, type Row, readReport } from "./row-parts.ts";
import { Part } from "./row-values.tsx";
import { SuppressedNotice } from "./suppressed-notice.tsx";
import type { Explorer, Shown } from "./use-explorer.ts";

/** A row's title: the auditee's name, or else the report ID or the table's title. */
export function describeRow({ rows: [first] = [], table }: Outcome): string {
  return String(readReport(first ?? {}, table)?.auditee_name ?? first?.report_id ?? table?.title);
}

/** A row, or a text whose parts are in several rows, with links to related rows. */
export function RowView({ explorer, outcome }: Shown): VNode | null {
  useTitle(describeRow(outcome));
  const { rows = [], table, asked } = outcome;
  const version = explorer.versions.find(({ schema }) => schema === asked.schema);
  const [row] = rows;
  if (table === undefined || version === undefined || row === undefined) return null;
  return (
    <>
      <Place row={row} table={table} />
      {isStub(row) ? (
        <SuppressedNotice explorer={explorer} outcome={outcome} />
      ) : (
        <>
          <ReportPdf explorer={explorer} outcome={outcome} report={readReport(row, table)} />
          <RelatedRows explorer={explorer} row={row} table={table} version={version} />
        </>
      )}
      {listParts(table, version).map((part) => (
        <Part
          key={part.name}
          part={part}
          rows={part === table ? rows : readEmbedded(row, part)}
          isOwn={part === table}
          schema={version.schema}
        />
      ))}
    </>
  );
}

/** Names the row in the browser's tab. */
function useTitle(title: string): void {
  useEffect(() => {
    const before = document.title;
    document.title = `${title} – Single Audit API`;
    return () => {
      document.title = before;
    };
  }, [title]);
}

/** Where and when the report was, and the program of a finding's award. */
function Place({ row, table }: { row: Row; table: Table }): VNode {
  const report = readReport(row, table);
  const place = [report?.auditee_city, report?.auditee_state, report?.audit_year, report?.report_id];
  const award = table.name === "findings" ? (row.federal_awards as Row | null | undefined) : undefined;
  return (
    <>
      {!isStub(row) && <p>{place.filter(Boolean).join(" · ")}</p>}
      {award && (
        <p>
          Program: {String(award.aln)} {String(award.federal_program_name ?? "")}
        </p>
      )}
    </>
  );
}

interface Related {
  explorer: Explorer;
  row: Row;
  table: Table;
  version: VersionDescription;
}

function RelatedRows({ explorer, row, table, version }: Related): VNode {
  const audits = linkRowAudits(table.name, row);
  return (
    <nav aria-label="Related rows">
      <ul class="toc">
        {audits && (
          <li>
            <a href={audits}>Audits with these awards</a>
          </li>
        )}
        {listLinks(row, table, version).map(({ name, query, isRow, isOfAwards }) => (
          <li key={name}>
            {query && isOfAwards && (
              <button type="button" class="link" onClick={() => void explorer.openAwards(query)}>
                {name}
              </button>
            )}
            {query && !isOfAwards && <a href={linkToExplorer(version.schema, query, isRow)}>{name}</a>}
            {!query && name}
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The tables whose rows are shown. A finding's text comes before its codes. Rows related to a report are only counted. */
function listParts(table: Table, { tables }: VersionDescription): Table[] {
  if (table.name === "general") return [table];
  const texts = tables.filter(({ name }) => /^(findings_text|corrective_action_plans)$/.test(name));
  const others = tables.filter(({ name }) => name !== "general");
  return [...new Set([...texts.reverse(), table, ...others])];
}

/** The rows of another table that a row embeds. */
const readEmbedded = (row: Row, { name }: Table) => [row[name] ?? []].flat() as Row[];
