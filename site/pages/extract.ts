import type { ChangesFilter } from "../changes-filter.ts";
import { formatTime } from "../format.ts";
import { type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import type { Query } from "../query.ts";
import { writeSnippet } from "../request-snippets.ts";
import { linkToExplorer, writeTarget } from "../write-target.ts";
import { command, linkToFeed, siteName } from "./layout.ts";

export interface Extract {
  /** What the page is about, for the citation. */
  title: string;
  /** The page's path and query string, if it has an address that can be kept. */
  path: string | undefined;
  /** Which changes concern the page. */
  changes?: ChangesFilter | undefined;
  /** The rows of the page. */
  rows: {
    /** What they are: "Findings". */
    name: string;
    /** The path of a CSV file of them. */
    csv?: string;
    /** The request to the API that returns the same rows, if there is one. */
    query?: Query;
  }[];
}

/** Writes how to get a page's rows as CSV or from the API, and how to cite the page. */
export function writeExtract(
  { config, facts, appUrl }: PageContext,
  { title, path, changes, rows }: Extract,
): Html {
  const schema = facts?.api[0]?.schema ?? "";
  const dataSet = facts?.data_set;
  const published =
    dataSet &&
    html`<time datetime="${dataSet.published_at.toISOString()}">${formatTime(dataSet.published_at)}</time>`;
  return html`<section class="extract" aria-labelledby="extract"><h2 id="extract">Get these rows, or cite this page</h2>
<ul class="only-screen">${rows.map(({ name, csv, query }) => {
    const ways = [
      csv && html`<a href="${csv}">CSV for spreadsheets</a>`,
      query && html`<a href="${linkToExplorer(schema, query)}">explorer</a>`,
    ].filter(Boolean);
    return html`<li>${name}: ${ways.map((way, index) => [index > 0 && ", ", way])}
  ${query && html`<details><summary>API request</summary>${command(`API request: ${name}`, writeSnippet("curl", { url: config.apiUrl + writeTarget(query), headers: {}, key: "demonstration" }))}</details>`}</li>`;
  })}
${changes && writeChangesLinks(changes, dataSet?.published_at)}</ul>
<p>Cite this as: ${siteName}. “${title}.” ${dataSet && html`Data set <code class="id">${dataSet.id}</code>, published ${published}. `}${path !== undefined && html`<span class="address">${appUrl}${path}</span>`}</p>
</section>`;
}

/** "What changed for these auditees after November 28, 2026 at 9:00 AM Eastern, when this data set was published". What it changed itself is in it already. */
function writeChangesLinks({ criteria, search, words }: ChangesFilter, published: Date | undefined): Html {
  const { ids } = criteria;
  const what = `What changed ${ids ? `for ${ids.length === 1 ? "this auditee" : "these auditees"}` : `in reports ${words}`}`;
  const all = `/changes?${search}`;
  return html`<li>${published && html`<a href="${all}&after=${published.toISOString()}">${what} after ${formatTime(published)}</a>, when this data set was published; `}<a href="${all}">${published ? "all changes that are kept" : what}</a>;
  <a href="${linkToFeed(search)}">Atom feed</a></li>`;
}
