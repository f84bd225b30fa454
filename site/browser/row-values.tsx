import type { ComponentChildren, VNode } from "preact";
import type { Table } from "../api-description.ts";
import { formatValue } from "../format-value.ts";
import { linkValue } from "../link-total.ts";
import { chooseShown, findColumn, joinParts, orderColumns } from "../table-facts.ts";
import { isHidden, type Row } from "./row-parts.ts";

interface PartOf {
  part: Table;
  rows: Row[];
  isOwn: boolean;
  schema: string;
}

/** The rows of a table: all columns of the row itself, and the main columns of related rows. */
export function Part({ part, rows, isOwn, schema }: PartOf): VNode | null {
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
        <Values key={index} row={row} table={part} names={shown} schema={schema} />
      ))}
    </section>
  );
}

interface ValuesOf {
  row: Row;
  table: Table;
  names: string[];
  schema: string;
}

/** A row's columns with their labels, names and full values. Embedded rows are shown elsewhere. */
function Values({ row, table, names, schema }: ValuesOf): VNode {
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
              <Counted
                text={isHidden(row, name) ? "suppressed" : formatValue(name, row[name])}
                link={linkValue(schema, table.name, row, name)}
              />
              {Object.keys(words).length > 0 && <span class="hint">{spellCode(row[name], words)}</span>}
            </dd>
          </div>
        ))}
    </dl>
  );
}

/** A value. If it counts rows, it is a link to them. */
export function Counted({ text, link }: { text: string; link: string | undefined }): ComponentChildren {
  return link === undefined ? text : <a href={link}>{text}</a>;
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
