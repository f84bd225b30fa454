/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import type { ClientSettings } from "../client-settings.ts";
import type { PageContext } from "../page-context.ts";
import { Layout } from "./layout.tsx";

/** Build a request, send it from the browser, look at what comes back, take it along. */
export function ExplorerPage(context: PageContext): VNode {
  const { config, description, hasPublicData } = context;
  const settings: ClientSettings | undefined =
    description === undefined ? undefined : { apiUrl: config.apiUrl, description, hasPublicData };
  return (
    <Layout
      context={context}
      path="/explorer"
      title="Explorer – Single Audit API"
      description="Build a request to the Single Audit API, send it from the browser, and copy it as a command."
      scripts={["explorer.js"]}
      preload={description}
    >
      <div class="page">
        <div class="wrap">
          <h1>Explorer</h1>
          <p class="lead">
            Build a request, see what it answers, take it along. It goes from your browser straight to the
            API.
          </p>
          {settings === undefined && (
            <p class="notice notice--error">
              The database did not answer, so the tables are not known now. Load this page again in a minute.
            </p>
          )}
          <noscript>
            <p class="notice">
              This page needs JavaScript. Without it, the <a href="/reference">reference</a> has every table
              and column, and a command for each table.
            </p>
          </noscript>
        </div>
        {settings && <div id="explorer" data-settings={JSON.stringify(settings)} />}
      </div>
    </Layout>
  );
}
