import { type Change, type Changes, type Kind, kinds } from "../changes.ts";
import type { ChangesFilter } from "../changes-filter.ts";
import { formatNumber, formatTime } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import { states } from "../names.ts";
import type { PageContext } from "../page-context.ts";
import { writeDocument } from "./layout.ts";

export const feedPath = "/changes.atom";
const description = "Which reports each publication of Single Audit data added, changed and removed.";

/** The page of changes, newest first. With a filter, only of some reports. */
export function writeChanges(context: PageContext, changes: Changes, filter?: ChangesFilter): string {
  const search = filter && filter.search !== "" ? `?${filter.search}` : "";
  const title = filter?.words ? `Changes of reports ${filter.words}` : "Changes";
  return writeDocument(context, {
    path: "/changes",
    title,
    description,
    feed: feedPath + search,
    body: html`<div class="wrap page">
<h1>${title}</h1>
<p class="lead">${filter ? describeFilter(filter) : description}</p>
<p>The last 100 publications are listed. To learn of new ones, subscribe to the <a href="${feedPath}${search}">Atom feed</a>.${
      !filter &&
      html`
  Programs find the same records in ${
    context.hasPublicData
      ? html`<a href="/public-data/manifest.json">manifest.json</a>`
      : html`the manifest of the bulk files`
  }.`
    }</p>
${writeUnread(filter)}
${
  changes.length === 0 &&
  (filter
    ? html`<p class="notice" role="status">None of these reports was added or changed in the last 100 publications.</p>`
    : html`<p class="notice">Nothing has changed yet: only one data set was published.</p>`)
}
${changes.map((change) => writeChange(context, change, filter))}
${writeForm(filter)}
</div>`,
  });
}

const describeFilter = ({ search }: ChangesFilter): Html =>
  html`Which of these reports each publication of Single Audit data added or changed. Reports that were removed are not listed here, only under
  <a href="/changes">all changes</a>, with their IDs.${search.includes("u=") && html` <a href="/check?${search.slice(search.indexOf("u="))}">Check the list</a>`}`;

function writeUnread(filter: ChangesFilter | undefined): Content {
  return (
    filter !== undefined &&
    filter.unread.length > 0 &&
    html`<p class="notice">Not understood: ${filter.unread.map((text, index) => html`${index > 0 && ", "}“${text}”`)}. A filter is a
  state, a program’s or agency’s number (such as 93.778), or a list of UEIs and EINs.</p>`
  );
}

function writeForm(filter: ChangesFilter | undefined): Html {
  const { state = "", aln = "", ids = [] } = filter?.criteria ?? {};
  return html`<section aria-labelledby="filter"><h2 id="filter">Changes and a feed of some reports</h2>
<form action="/changes">
<div class="row">
  <div class="field"><label for="state">State</label><select id="state" name="state"><option value="">All</option>${Object.entries(
    states,
  ).map(
    ([code, name]) => html`<option value="${code}"${code === state && html` selected`}>${name}</option>`,
  )}</select></div>
  <div class="field"><label for="aln">Program (ALN) or agency</label><input id="aln" name="aln" maxlength="20" autocomplete="off" value="${aln}"></div>
  <div class="field"><label for="list">UEIs and EINs</label><input id="list" name="u" autocomplete="off" value="${ids.join(", ")}"></div>
</div>
<button type="submit">Show the changes</button>
</form></section>`;
}

/** Characters that XML 1.0 does not allow. Feed readers refuse a feed that has one, and an auditee's name may have one. */
const notInXml = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** The same records as an Atom feed (RFC 4287). */
export function writeFeed(
  { appUrl, hasPublicData }: Pick<PageContext, "appUrl" | "hasPublicData">,
  changes: Changes,
  filter?: ChangesFilter,
): string {
  const search = filter ? `?${filter.search}` : "";
  const page = `${appUrl}/changes${search}`;
  const entries = changes.map((change) => {
    const published = change.published_at.toISOString();
    const content = html`<p>${describeCounts(change, filter)}</p>${kinds.map((kind) => listReports(change, kind, appUrl))}${!filter && writeFileLink(hasPublicData, change, appUrl)}`;
    return html`<entry>
<id>${page}#${change.number}</id>
<title>${describeCounts(change, filter)}</title>
<updated>${published}</updated>
<link rel="alternate" type="text/html" href="${page}#${change.number}"/>
<content type="html">${content.html}</content>
</entry>
`;
  });
  return html`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${page}</id>
<title>Single Audit API: changes${filter && ` of reports ${filter.words}`}</title>
<subtitle>${description}</subtitle>
<author><name>Single Audit API</name></author>
<updated>${(changes[0]?.published_at ?? new Date(0)).toISOString()}</updated>
<link rel="self" type="application/atom+xml" href="${appUrl}${feedPath}${search}"/>
<link rel="alternate" type="text/html" href="${page}"/>
${entries}</feed>
`.html.replace(notInXml, "");
}

function writeChange({ hasPublicData }: PageContext, change: Change, filter?: ChangesFilter): Html {
  const { number, published_at: published } = change;
  return html`<section id="${number}" aria-labelledby="title-${number}">
<h2 id="title-${number}"><time datetime="${published.toISOString()}">${formatTime(published)}</time></h2>
<p>${describeCounts(change, filter)} Data set <code class="id">${change.data_set}</code>.</p>
${kinds.map((kind) => listReports(change, kind))}
${(!filter || change.is_read === false) && writeFileLink(hasPublicData, change)}
</section>`;
}

/** "Reports: 3 added, 1 changed, none removed." With a filter, removed reports are not counted. */
function describeCounts({ counts, is_read: isRead }: Change, filter?: ChangesFilter): string {
  if (isRead === false) return "Too many reports changed to look for these. See the list of all.";
  const listed = kinds
    .filter((kind) => kind !== "removed" || filter === undefined)
    .map((kind) => `${counts[kind] === 0 ? "none" : formatNumber(counts[kind])} ${kind}`);
  return `Reports: ${listed.join(", ")}.`;
}

function listReports({ counts, first, names }: Change, kind: Kind, base = ""): Html | false {
  const ids = first[kind];
  const shown =
    counts[kind] > ids.length ? `first ${ids.length} of ${formatNumber(counts[kind])}` : counts[kind];
  // Only public reports have a name and a page.
  const link = (id: string) =>
    kind === "removed" || !Object.hasOwn(names, id)
      ? id
      : html`<a href="${base}/record/${id}">${names[id] || "not stated"}</a> <span class="hint">${id}</span>`;
  return (
    ids.length > 0 &&
    html`<details><summary>Reports ${kind} (${shown})</summary>
<ul class="toc">${ids.map((id) => html`<li>${link(id)}</li>`)}</ul></details>`
  );
}

const writeFileLink = (hasPublicData: boolean, { number }: Change, base = ""): Html | false =>
  hasPublicData &&
  html`<p><a href="${base}/public-data/changes-${number}.csv.gz">All report IDs of this change as CSV</a></p>`;
