import { type Change, type Changes, type Kind, kinds } from "../changes.ts";
import { formatNumber, formatTime } from "../format.ts";
import { type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import { writeDocument } from "./layout.ts";

export const feedPath = "/changes.atom";
const description = "Which reports each publication of Single Audit data added, changed and removed.";

/** The page of changes, newest first. */
export function writeChanges(context: PageContext, changes: Changes): string {
  return writeDocument(context, {
    path: "/changes",
    title: "Changes",
    description,
    feed: feedPath,
    body: html`<div class="wrap page">
<h1>Changes</h1>
<p class="lead">${description}</p>
<p>The last 100 publications are listed. To learn of new ones, subscribe to the <a href="${feedPath}">Atom feed</a>.
  Programs find the same records in ${
    context.hasPublicData
      ? html`<a href="/public-data/manifest.json">manifest.json</a>`
      : html`the manifest of the bulk files`
  }.</p>
${changes.length === 0 && html`<p class="notice">Nothing has changed yet: only one data set was published.</p>`}
${changes.map((change) => writeChange(context, change))}
</div>`,
  });
}

/** The same records as an Atom feed (RFC 4287). */
export function writeFeed(
  { appUrl, hasPublicData }: Pick<PageContext, "appUrl" | "hasPublicData">,
  changes: Changes,
): string {
  const page = `${appUrl}/changes`;
  const entries = changes.map((change) => {
    const published = change.published_at.toISOString();
    const content = html`<p>${describeCounts(change)}</p>${kinds.map((kind) => listReports(change, kind, appUrl))}${writeFileLink(hasPublicData, change, appUrl)}`;
    return html`<entry>
<id>${page}#${change.number}</id>
<title>${describeCounts(change)}</title>
<updated>${published}</updated>
<link rel="alternate" type="text/html" href="${page}#${change.number}"/>
<content type="html">${content.html}</content>
</entry>
`;
  });
  return html`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${page}</id>
<title>Single Audit API: changes</title>
<subtitle>${description}</subtitle>
<author><name>Single Audit API</name></author>
<updated>${(changes[0]?.published_at ?? new Date(0)).toISOString()}</updated>
<link rel="self" type="application/atom+xml" href="${appUrl}${feedPath}"/>
<link rel="alternate" type="text/html" href="${page}"/>
${entries}</feed>
`.html;
}

function writeChange({ hasPublicData }: PageContext, change: Change): Html {
  const { number, published_at: published } = change;
  return html`<section id="${number}" aria-labelledby="title-${number}">
<h2 id="title-${number}"><time datetime="${published.toISOString()}">${formatTime(published)}</time></h2>
<p>${describeCounts(change)} Data set <code class="id">${change.data_set}</code>.</p>
${kinds.map((kind) => listReports(change, kind))}
${writeFileLink(hasPublicData, change)}
</section>`;
}

/** "Reports: 3 added, 1 changed, none removed." */
function describeCounts({ counts }: Change): string {
  const [added, changed, removed] = kinds.map((kind) =>
    counts[kind] === 0 ? "none" : formatNumber(counts[kind]),
  );
  return `Reports: ${added} added, ${changed} changed, ${removed} removed.`;
}

function listReports({ counts, first }: Change, kind: Kind, base = ""): Html | false {
  const ids = first[kind];
  const shown =
    counts[kind] > ids.length ? `first ${ids.length} of ${formatNumber(counts[kind])}` : counts[kind];
  // A removed report has no page.
  const link = (id: string) => (kind === "removed" ? id : html`<a href="${base}/record/${id}">${id}</a>`);
  return (
    ids.length > 0 &&
    html`<details><summary>Reports ${kind} (${shown})</summary>
<ul class="toc">${ids.map((id) => html`<li>${link(id)}</li>`)}</ul></details>`
  );
}

const writeFileLink = (hasPublicData: boolean, { number }: Change, base = ""): Html | false =>
  hasPublicData &&
  html`<p><a href="${base}/public-data/changes-${number}.csv.gz">All report IDs of this change as CSV</a></p>`;
