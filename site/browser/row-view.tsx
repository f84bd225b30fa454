import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Table, VersionDescription } from "../api-description.ts";
import { chooseShown, findColumn, orderColumns } from "../table-facts.ts";
import { linkToExplorer } from "../write-target.ts";
import type { Answer } from "./ask.ts";
import { formatValue } from "./format-value.ts";
import { KeyField } from "./key-field.tsx";
import type { Outcome } from "./outcome.ts";
import { Refusal } from "./refusal.tsx";
import { isHidden, isStub, joinParts, listLinks, type Row, readReport } from "./row-parts.ts";
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
        <SuppressedNotice explorer={explorer} />
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
      <p>{place.filter(Boolean).join(" · ")}</p>
      {award && (
        <p>
          Program: {String(award.aln)} {String(award.federal_program_name ?? "")}
        </p>
      )}
    </>
  );
}

function SuppressedNotice({ explorer }: { explorer: Explorer }): VNode {
  return (
    <div class="notice">
      <p>
        This report is suppressed: the auditee, an Indian tribe or tribal organization, chose not to make it
        public (2 CFR 200.512(b)(2)). <a href="/#tribal">A key with Tribal access</a> shows it.
      </p>
      <KeyField explorer={explorer} label="A key with Tribal access" />
    </div>
  );
}

function ReportPdf({ explorer, outcome, report }: Shown & { report: Row | undefined }): VNode | null {
  if (report?.is_public === false)
    return <PrivatePdf explorer={explorer} outcome={outcome} reportId={String(report.report_id)} />;
  return report?.is_public === true ? (
    <p>
      <a class="button" href={`/dissemination/report/pdf/${report.report_id}`}>
        PDF of the report
      </a>
    </p>
  ) : null;
}

interface Related {
  explorer: Explorer;
  row: Row;
  table: Table;
  version: VersionDescription;
}

function RelatedRows({ explorer, row, table, version }: Related): VNode {
  return (
    <nav aria-label="Related rows">
      <ul class="toc">
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

/** The rows of a table: all columns of the row itself, and the main columns of related rows. */
function Part({ part, rows, isOwn }: { part: Table; rows: Row[]; isOwn: boolean }): VNode | null {
  const joined = joinParts(rows, part);
  if (joined.length === 0) return null;
  const names = Object.keys(joined[0] ?? {});
  const shown = isOwn
    ? orderColumns(names)
    : chooseShown(part.name, names).filter((name) => !/^(report_id|audit_year)$/.test(name));
  return (
    <section aria-label={part.title}>
      {!isOwn && <h3>{part.title}</h3>}
      {joined.map((row, index) => (
        <Values key={index} row={row} table={part} names={shown} />
      ))}
    </section>
  );
}

/** A row's columns with their labels, names and full values. Embedded rows are shown elsewhere. */
function Values({ row, table, names }: { row: Row; table: Table; names: string[] }): VNode {
  const columns = names.map((name) => findColumn(table, name));
  return (
    <dl class="values">
      {columns
        .filter((column) => column !== undefined)
        .map(({ name, label, words }) => (
          <div key={name}>
            <dt>
              {label} <ColumnName table={table} name={name} />
            </dt>
            <dd>
              {isHidden(row, name) ? "suppressed" : formatValue(name, row[name])}
              {Object.keys(words).length > 0 && <span class="hint">{spellCode(row[name], words)}</span>}
            </dd>
          </div>
        ))}
    </dl>
  );
}

/** A column's name. If the table has the column, it is a link to its description. */
function ColumnName({ table, name }: { table: Table; name: string }): VNode {
  const code = <code>{name}</code>;
  if (!table.columns.some((column) => column.name === name)) return code;
  return (
    <a href={`/reference#${table.name}.${name}`} target="_blank" rel="noopener">
      {code}
    </a>
  );
}

/** Explains the letters of a code. */
function spellCode(code: unknown, words: Record<string, string>): string {
  const letters = [...String(code ?? "")].filter((letter) => letter in words);
  return letters.map((letter) => `${letter}: ${words[letter]}`).join("; ");
}

/** A button that gets a suppressed report's PDF with a one-time token. Shown only if the key can see the report. */
function PrivatePdf({ explorer, outcome: { asked, key }, reportId }: Shown & { reportId: string }): VNode {
  const [answer, setAnswer] = useState<Answer>();
  const request = async () => {
    const headers = { "content-profile": `admin_${asked.schema}`, "content-type": "application/json" };
    const body = JSON.stringify({ report_id: reportId });
    const found = await explorer.askApi("/rpc/request_file_access", { method: "POST", headers, key, body });
    setAnswer(found);
    if (found.status !== 200) return;
    const href = `/dissemination/report/pdf/ota/${JSON.parse(found.text).access_uuid}`;
    Object.assign(document.createElement("a"), { href, target: "_blank", rel: "noopener" }).click();
  };
  return (
    <div aria-live="polite">
      <p>
        <button type="button" onClick={request}>
          Get the PDF with your key
        </button>
      </p>
      {answer?.status === 200 && (
        <p>The PDF opens in a new tab or is downloaded. To get it again, press the button again.</p>
      )}
      {answer && answer.status !== 200 && <Refusal answer={answer} explorer={explorer} table="general" />}
    </div>
  );
}
