import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { VersionDescription } from "../api-description.ts";
import type { ClientSettings } from "../client-settings.ts";
import { FileAccess } from "./file-access.tsx";
import { VersionSelect } from "./query-form.tsx";
import type { Explorer } from "./use-explorer.ts";

/** The one call of the admin version: a one-time link to a report's PDF. */
export function AccessForm({
  settings,
  versions,
  explorer,
  keyField,
}: {
  settings: ClientSettings;
  versions: VersionDescription[];
  explorer: Explorer;
  keyField: VNode;
}): VNode {
  const { form } = explorer;
  const [reportId, setReportId] = useState(
    form.query.filters.find(({ column, operator }) => column === "report_id" && operator === "eq")?.value ??
      "",
  );
  const [served] = versions.find(({ schema }) => schema === form.schema)?.functions ?? [];
  return (
    <div class="wrap">
      {keyField}
      <div class="row">
        <VersionSelect versions={versions} explorer={explorer} />
        <div class="field field--wide">
          <label for="report-id">Report ID</label>
          <input
            id="report-id"
            type="text"
            autocomplete="off"
            spellcheck={false}
            value={reportId}
            onInput={(event) => setReportId(event.currentTarget.value)}
          />
        </div>
      </div>
      {served && (
        <p>
          <code>POST /rpc/{served.name}</code>: {served.description} <a href="/#tribal">As commands</a>
        </p>
      )}
      <FileAccess
        apiUrl={settings.apiUrl}
        schema={form.schema}
        reportId={reportId.trim().toUpperCase()}
        accessKey={explorer.key}
        settings={settings}
      />
    </div>
  );
}
