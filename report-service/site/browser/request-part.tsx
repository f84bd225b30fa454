import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { linkToExplorer } from "../example-request.ts";
import { type Query, writeTarget } from "../query.ts";
import { type ApiRequest, demonstrationKey, type Language } from "../request-snippets.ts";
import { Scroll } from "../scroll.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Snippets } from "./snippets.tsx";

/** The request as it is sent, and what to take along of it. */
export function RequestPart({
  target,
  query,
  request,
  isOwn,
  isDisabled,
  download,
}: {
  target: { apiUrl: string; schema: string };
  query: Query;
  request: ApiRequest;
  isOwn: boolean;
  isDisabled: boolean;
  download: () => void;
}): VNode {
  const [language, setLanguage] = useState<Language>("curl");
  return (
    <>
      <h2>Your request</h2>
      <Scroll label="Request line and headers" kind="code wrapped">
        <pre>
          <code id="request-line">
            {[
              `GET ${writeTarget(query)}`,
              `host: ${new URL(target.apiUrl).host}`,
              ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
              `x-api-key: ${isOwn ? "(your key)" : demonstrationKey}`,
            ].join("\n")}
          </code>
        </pre>
      </Scroll>
      <div class="actions">
        <button type="submit" disabled={isDisabled}>
          Send the request
        </button>
        <button type="button" class="plain" disabled={isDisabled} onClick={download}>
          Download CSV
        </button>
      </div>
      <h3>Take it along</h3>
      <Snippets id="snippet" request={request} language={language} choose={setLanguage} />
      <CopyButton
        name="Copy link"
        label="Copy link to this query"
        text={new URL(linkToExplorer(target.schema, query), location.href).href}
      />
    </>
  );
}
