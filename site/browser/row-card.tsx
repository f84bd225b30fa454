import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Table, VersionDescription } from "../api-description.ts";
import { type ClientSettings, isAdmin } from "../client-settings.ts";
import { FileAccess } from "./file-access.tsx";
import { formatWhole } from "./format-value.ts";
import type { Row } from "./read-outcome.ts";
import { Related } from "./related.tsx";
import type { Explorer } from "./use-explorer.ts";

/** A row with whole texts, and the ways to what belongs to it. */
export function RowCard({
  row,
  title,
  schema,
  table,
  settings,
  versions,
  explorer,
  close,
}: {
  row: Row;
  title: string;
  schema: string;
  table: Table | undefined;
  settings: ClientSettings;
  versions: VersionDescription[];
  explorer: Explorer;
  close: () => void;
}): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const hide = () => dialog.current?.close();
  const reportId = typeof row.report_id === "string" ? row.report_id : undefined;
  const isStub = row.is_public === false && !explorer.own.isUsed;
  const admins = versions.filter(isAdmin);
  const admin = admins.find((version) => version.schema === `admin_${schema}`) ?? admins[0];
  return (
    <dialog class="card" aria-labelledby="card-title" ref={dialog} onClose={close}>
      <div class="card__head">
        <h2 id="card-title">{title}</h2>
        <button type="button" class="small plain" onClick={hide}>
          Close
        </button>
      </div>
      {row.is_public === false && <Suppressed />}
      {reportId !== undefined && row.is_public !== true && explorer.own.isUsed && admin !== undefined && (
        <FileAccess
          apiUrl={settings.apiUrl}
          schema={admin.schema}
          reportId={reportId}
          accessKey={explorer.key}
          settings={settings}
        />
      )}
      {reportId !== undefined && !isStub && (
        <Related
          row={row}
          reportId={reportId}
          tableName={table?.name ?? ""}
          version={versions.find((version) => version.schema === schema)}
          apiUrl={settings.apiUrl}
          explorer={explorer}
          leave={hide}
        />
      )}
      <dl class="values">
        {Object.entries(row).map(([name, value]) => (
          <div key={name}>
            <dt>
              <a
                href={`/reference#${table?.name}.${name}`}
                target="_blank"
                rel="noopener"
                title={table?.columns.find((column) => column.name === name)?.description}
              >
                {name}
              </a>
            </dt>
            <dd class={value === null ? "null" : undefined}>
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}

/** What a stub is, in one sentence. */
function Suppressed(): VNode {
  return (
    <p class="notice">
      The auditee, an Indian tribe or tribal organization, keeps this report from public display (2 CFR
      200.512(b)(2)): the public is told its identifier and nothing else, and{" "}
      <a href="/#tribal">a key with Tribal access</a> sees the rest.
    </p>
  );
}

function Value({ value }: { value: unknown }): VNode {
  if (Array.isArray(value)) {
    return (
      <ol>
        {value.map((each, index) => (
          <li key={index}>
            <Value value={each} />
          </li>
        ))}
      </ol>
    );
  }
  if (typeof value === "object" && value !== null) {
    return (
      <dl class="values">
        {Object.entries(value).map(([name, each]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={each === null ? "null" : undefined}>{formatWhole(each)}</dd>
          </div>
        ))}
      </dl>
    );
  }
  return <>{formatWhole(value)}</>;
}
