import type { ClientSettings } from "../client-settings.ts";
import { html } from "../html.ts";
import type { FactsContext } from "../page-context.ts";
import { writeDocument } from "./layout.ts";

/** The page on which visitors build a request, send it from the browser, and copy it. */
export function writeExplorer(context: FactsContext): string {
  const { config, facts, hasPublicData } = context;
  const description = facts.apiFile.path;
  const settings: ClientSettings = { apiUrl: config.apiUrl, description, hasPublicData };
  return writeDocument(context, {
    path: "/explorer",
    title: "Explorer",
    description:
      "Build a request to the Single Audit API, send it from the browser, and copy it as a command.",
    scripts: ["explorer.js"],
    preload: description,
    body: html`<div class="page">
<div class="wrap">
  <h1>Explorer</h1>
  <noscript><p class="notice">This page needs JavaScript. Without it, <a href="/search">search and read reports</a>, see the
    <a href="/totals">totals</a>, download the data as <a href="/files">files</a>, or run the command on the <a href="/">overview</a>.</p></noscript>
</div>
<div id="explorer" data-settings="${JSON.stringify(settings)}"><p class="wrap hint needs-script" role="status">Loading …</p></div>
</div>`,
  });
}
