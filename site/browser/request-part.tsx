import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { linkToExplorer } from "../example-request.ts";
import type { Query } from "../query.ts";
import { type ApiRequest, demonstrationKey, type Language } from "../request-snippets.ts";
import { Scroll } from "../scroll.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Snippets } from "./snippets.tsx";

/** The request as it is sent, and what to take along of it. */
export function RequestPart({
  schema,
  query,
  target,
  request,
  isOwn,
  isWaiting,
}: {
  schema: string;
  query: Query;
  /** Path and query string. */
  target: string;
  request: ApiRequest;
  isOwn: boolean;
  isWaiting: boolean;
}): VNode {
  const [language, setLanguage] = useState<Language>("curl");
  return (
    <>
      <h2>Your request</h2>
      <Scroll label="Request line and headers" kind="code wrapped">
        <pre>
          <code id="request-line">
            {[
              `GET ${target}`,
              `host: ${new URL(request.url).host}`,
              ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
              `x-api-key: ${isOwn ? "(your key)" : demonstrationKey}`,
            ].join("\n")}
          </code>
        </pre>
      </Scroll>
      <div class="actions">
        <button type="submit" aria-disabled={isWaiting}>
          Send the request
        </button>
        <CopyButton
          name="Copy link"
          label="Copy link to this query"
          text={new URL(linkToExplorer(schema, query), location.href).href}
        />
      </div>
      <h3>Take it along</h3>
      <Snippets id="snippet" request={request} language={language} choose={setLanguage} />
    </>
  );
}
