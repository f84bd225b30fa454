import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Table } from "../api-description.ts";
import { chooseShown, orderColumns } from "../table-facts.ts";
import { linkToExplorer } from "../write-target.ts";
import type { Answer } from "./ask.ts";
import { formatValue } from "./format-value.ts";
import { KeyField } from "./key-field.tsx";
import type { Outcome, Row } from "./outcome.ts";
import { Refusal } from "./refusal.tsx";
import { isHidden, isStub, joinParts, listLinks, readReport } from "./row-parts.ts";
import type { Shown } from "./use-explorer.ts";

/** A row's title: the auditee's name, or else the report ID or the table's title. */
export function describeRow({ rows: [first] = [], table }: Outcome): string {
  return String(readReport(first ?? {}, table)?.auditee_name ?? first?.report_id ?? table?.title);
}

/** A row, or a text whose parts are in several rows, with links to related rows. */
export function RowView({ explorer, outcome }: Shown): VNode | null {
  const title = describeRow(outcome);
  useEffect(() => {
    const before = document.title;
    document.title = `${title} – Single Audit API`;
    return () => {
      document.title = before;
    };
  }, [title]);
  const { rows: own = [], table, asked } = outcome;
  const version = explorer.versions.find(({ schema }) => schema === asked.schema);
  const [first] = own;
  if (table === undefined || version === undefined || first === undefined) return null;
  const report = readReport(first, table);
  const place = [report?.auditee_city, report?.auditee_state, report?.audit_year, report?.report_id];
  // A finding's text comes before its codes. Rows related to a report are only counted.
  const texts = version.tables.filter(({ name }) => /^(findings_text|corrective_action_plans)$/.test(name));
  const others = version.tables.filter(({ name }) => name !== "general");
  const parts = table.name === "general" ? [table] : new Set([...texts.reverse(), table, ...others]);
  return (
    <>
      <p>{place.filter(Boolean).join(" · ")}</p>
      {isStub(first) ? (
        <div class="notice">
          <p>
            This report is suppressed: the auditee, an Indian tribe or tribal organization, chose not to make
            it public (2 CFR 200.512(b)(2)). <a href="/#tribal">A key with Tribal access</a> shows it.
          </p>
          <KeyField explorer={explorer} label="A key with Tribal access" />
        </div>
      ) : (
        <>
          {report?.is_public === true && (
            <p>
              <a class="button" href={`/dissemination/report/pdf/${report.report_id}`}>
                PDF of the report
              </a>
            </p>
          )}
          {report?.is_public === false && (
            <PrivatePdf explorer={explorer} outcome={outcome} reportId={String(report.report_id)} />
          )}
          <nav aria-label="Related rows">
            <ul class="toc">
              {listLinks(first, table, version).map(({ name, query, isRow, isOfAwards }) => (
                <li key={name}>
                  {query && isOfAwards && (
                    <button type="button" class="link" onClick={() => void explorer.openAwards(query)}>
                      {name}
                    </button>
                  )}
                  {query && !isOfAwards && <a href={linkToExplorer(asked.schema, query, isRow)}>{name}</a>}
                  {!query && name}
                </li>
              ))}
            </ul>
          </nav>
        </>
      )}
      {Array.from(parts, (part) => {
        const isOwn = part === table;
        const rows = joinParts(isOwn ? own : ([first[part.name] ?? []].flat() as Row[]), part);
        const names = Object.keys(rows[0] ?? {});
        const shown = chooseShown(part.name, names).filter((name) => !/^(report_id|audit_year)$/.test(name));
        return (
          rows.length > 0 && (
            <section key={part.name} aria-label={part.title}>
              {!isOwn && <h3>{part.title}</h3>}
              {rows.map((row, index) => (
                <Values key={index} row={row} table={part} names={isOwn ? orderColumns(names) : shown} />
              ))}
            </section>
          )
        );
      })}
    </>
  );
}

/** Explains the letters of a code with the column's description, such as `L: reporting` or `"U" unmodified`. */
function spellCode(code: unknown, description: string): string {
  const letters = String(code).match(/[A-Z]/g) ?? [];
  const spell = (letter: string) => new RegExp(`\\b${letter}[":] .+?(?=[;.]|, ")`).exec(description) ?? [];
  return letters.flatMap(spell).join("; ").replaceAll('" ', ": ");
}

/** A row's columns with their labels, names and full values. */
function Values({ row, table, names }: { row: Row; table: Table; names: string[] }): VNode {
  const columns = names.map((name) => table.columns.find((column) => column.name === name));
  return (
    <dl class="values">
      {columns
        .filter((column) => column !== undefined)
        .map(({ name, label, description }) => (
          <div key={name}>
            <dt>
              {label}{" "}
              <a href={`/reference#${table.name}.${name}`} target="_blank" rel="noopener">
                <code>{name}</code>
              </a>
            </dt>
            <dd>
              {isHidden(row, name) ? "suppressed" : formatValue(name, row[name])}
              {/^(type_requirement|audit_report_type)$/.test(name) && (
                <span class="hint">{spellCode(row[name], description)}</span>
              )}
            </dd>
          </div>
        ))}
    </dl>
  );
}

/** A button that gets a suppressed report's PDF with a one-time token. Shown only if the key can see the report. */
function PrivatePdf({ explorer, outcome: { asked, key }, reportId }: Shown & { reportId: string }): VNode {
  const [answer, setAnswer] = useState<Answer>();
  const request = async () => {
    const headers = { "content-profile": asked.schema, "content-type": "application/json" };
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
