import { render, type VNode } from "preact";
import type { VersionDescription } from "../api-description.ts";
import { type ClientSettings, isAdmin } from "../client-settings.ts";
import { describeRequest } from "../example-request.ts";
import { AccessForm } from "./access-form.tsx";
import { KeyField } from "./key-field.tsx";
import { QueryForm } from "./query-form.tsx";
import { readSettings } from "./read-settings.ts";
import { RequestPart } from "./request-part.tsx";
import { ResultPart } from "./result-part.tsx";
import { useExplorer } from "./use-explorer.ts";

function ExplorerPage({
  settings,
  versions,
}: {
  settings: ClientSettings;
  versions: VersionDescription[];
}): VNode {
  const { apiUrl } = settings;
  const explorer = useExplorer(apiUrl, versions);
  const { form, own, isWaiting } = explorer;
  const { target } = explorer.writeRequest(form);
  const request = describeRequest(
    { apiUrl, schema: form.schema },
    target,
    own.isUsed ? "own" : "demonstration",
  );
  if (explorer.isCounted) request.headers.prefer = "count=exact";
  const keyField = <KeyField own={own} change={explorer.setOwn} />;
  if (versions.some((version) => isAdmin(version) && version.schema === form.schema)) {
    return <AccessForm settings={settings} versions={versions} explorer={explorer} keyField={keyField} />;
  }
  return (
    <>
      <form
        class="wrap explorer"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isWaiting) void explorer.send(form, { history: "push" });
        }}
      >
        <div>
          {keyField}
          <QueryForm versions={versions} explorer={explorer} />
        </div>
        <div>
          <RequestPart
            query={form.query}
            schema={form.schema}
            target={target}
            request={request}
            isOwn={own.isUsed}
            isWaiting={isWaiting}
          />
        </div>
      </form>
      <ResultPart settings={settings} versions={versions} explorer={explorer} />
    </>
  );
}

try {
  const found = await readSettings();
  if (found !== undefined) render(<ExplorerPage {...found} />, found.root);
} catch (error) {
  const root = document.getElementById("explorer");
  if (root !== null) {
    render(
      <p class="wrap notice notice--error" role="alert">
        {error instanceof Error ? error.message : String(error)}
      </p>,
      root,
    );
  }
}
