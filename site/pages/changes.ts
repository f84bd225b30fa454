import {
  type Change,
  type ChangedPart,
  type ChangedReport,
  type Changes,
  type Kind,
  kinds,
} from "../changes.ts";
import { type AskedPublications, type ChangesFilter, readChangesFilter } from "../changes-filter.ts";
import { count } from "../finding-words.ts";
import { capitalize, formatDay, formatNumber, formatTime, writeEasternDate } from "../format.ts";
import { formatValue, isMoney } from "../format-value.ts";
import { type Content, type Html, html } from "../html.ts";
import { states } from "../names.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery } from "../query.ts";
import { listMissing, type MissingIds, noneMissing, writeMissing } from "../successors.ts";
import { findColumn } from "../table-facts.ts";
import { cleanNote, describeVerdict, listResult, resultColumns } from "../verdict.ts";
import { type Extract, writeExtract } from "./extract.ts";
import { linkToFeed, siteName, writeDocument } from "./layout.ts";

const description = "Which reports each publication of Single Audit data added, changed and removed.";

/** The most reports that a page or feed lists, to keep it small. Each publication has a page with the others. */
const mostReports = 600;
const mostOfEachKind = 20;
/** How many the database keeps. */
const mostPublications = 100;

/** What the page of changes shows. */
interface View {
  /** Which reports. */
  filter?: ChangesFilter | undefined;
  /** The IDs of the filter that no public report has. */
  missing?: MissingIds;
  publications: AskedPublications;
  /** The changes of all reports. */
  kept: Changes;
}

/** The page of changes, newest first. With a filter, only of some reports; with a number, only of one publication. */
export function writeChanges(context: PageContext, changes: Changes, view: View): string {
  const { filter, publications } = view;
  const { number } = publications;
  const title = [
    filter?.words ? `Changes to reports ${filter.words}` : "Changes",
    number === undefined && describeStart(publications),
  ]
    .filter(Boolean)
    .join(", ");
  const shown = chooseChanges(changes, publications);
  return writeDocument(context, {
    path: "/changes",
    title: number === undefined ? title : `${title}, publication ${number}`,
    description,
    feed: filter?.search ?? "",
    body: html`<div class="wrap page">
<h1>${title}</h1>
<p class="lead">${filter ? describeFilter(filter) : description}</p>
<p>${
      number === undefined
        ? shown.length > 0 && describePublications(shown, view)
        : html`Only publication ${number} is shown. <a href="${linkToPage(filter)}">See all</a>.`
    } To learn of new ones, subscribe to the <a href="${linkToFeed(filter?.search ?? "")}">Atom feed</a>.${
      !filter &&
      html`
  Programs find the same records in ${
    context.hasPublicData
      ? html`<a href="/public-data/manifest.json">manifest.json</a>`
      : html`the manifest of the bulk files`
  }.`
    }</p>
${writeUnread([...(filter?.unread ?? []), ...publications.unread])}
${writeMissing(filter?.criteria.ids ?? [], view.missing ?? noneMissing, (u) => linkToPage(readChangesFilter({ ...filter?.criteria, u })))}
${shown.length === 0 ? writeNothing(shown, view) : html`<p class="hint">${cleanNote}</p>`}
${shown.map((change) => writeChange(context, change, filter))}
${writeForm(view)}
${writeExtract(context, { title, path: linkToPage(filter, publications), rows: writeRows(shown, view) })}
</div>`,
  });
}

/** "since March 3, 2026", "after March 3, 2026 at 9:00 PM Eastern". Empty if all publications are asked for. */
const describeStart = ({ since, after }: AskedPublications): string =>
  [since && `since ${formatDay(since)}`, after && `after ${formatTime(new Date(after))}`]
    .filter(Boolean)
    .join(" and ");

/** "1 of 12 publications since March 3, 2026 added or changed these reports." */
function describePublications(shown: Changes, { filter, publications, kept }: View): string {
  const oldest = kept.at(-1)?.published_at;
  if (oldest === undefined) return "";
  const first = writeEasternDate(oldest);
  const { since = first, after } = publications;
  const all = count(chooseSince(kept, publications).length, "publication");
  const isAllKept = since <= first && (after === undefined || new Date(after) < oldest);
  const dates = isAllKept ? `since ${formatDay(first)}` : describeStart(publications);
  const found = shown.filter(({ is_read: isRead }) => isRead !== false).length;
  const listed = filter
    ? `${found === 0 ? "None" : formatNumber(found)} of ${all} ${dates} added or changed these reports.`
    : `${capitalize(all)} ${dates}, the newest first.`;
  return `${listed} Only the last ${mostPublications} are kept.`;
}

function writeNothing(shown: Changes, view: View): Html {
  const { filter, publications, kept } = view;
  const { number } = publications;
  const start = describeStart(publications);
  if (filter && (filter.search === "" || filter.criteria.ids?.length === 0))
    return html`<p class="notice" role="status">No changes are shown, because a part of the filter was not understood.</p>`;
  if (number !== undefined)
    return html`<p class="notice" role="status">Publication ${number} changed none of these reports, or it is not among the last ${mostPublications}.</p>`;
  if (start !== "" && chooseSince(kept, publications).length === 0)
    return html`<p class="notice" role="status">Nothing has been published ${start}.</p>`;
  return filter && kept.length > 0
    ? html`<p class="notice" role="status">${describePublications(shown, view)}</p>`
    : html`<p class="notice">Nothing has changed yet: only one data set has been published.</p>`;
}

/** How to get the reports on a page. Only public ones are in the API. */
function writeRows(shown: Changes, { filter, publications }: View): Extract["rows"] {
  const rows = listChangeRows(shown, undefined);
  const ids = [...new Set(rows.flatMap((row) => ("findings" in row ? [row.report_id] : [])))];
  const value = ids.slice(0, mostInRequest).join("\n");
  return [
    {
      name: "The reports on this page",
      csv: linkToPage(filter, publications).replace("/changes", "/changes.csv"),
    },
    ...(ids.length > 0
      ? [
          {
            name:
              ids.length > mostInRequest ? `The first ${mostInRequest} public reports` : "The public reports",
            query: {
              ...emptyQuery,
              filters: [{ column: "report_id", operator: "in" as const, value }],
              limit: mostInRequest,
            },
          },
        ]
      : []),
  ];
}

/** The changes that a page shows: of the newest publications, or with a number, of one. */
export const chooseChanges = (changes: Changes, publications: AskedPublications): Changes =>
  publications.number === undefined
    ? shorten(chooseSince(changes, publications))
    : changes.filter((change) => change.number === publications.number);

const chooseSince = (changes: Changes, { since = "", after = "" }: AskedPublications): Changes =>
  changes.filter(
    ({ published_at: published }) => writeEasternDate(published) >= since && published.toISOString() > after,
  );

/** The columns of a CSV file of changes. */
export const changeColumns = [
  "publication",
  "published_at",
  "change",
  "report_id",
  "auditee_name",
  "auditee_uei",
  "audit_year",
  "findings",
  "replaces",
  "changed_parts",
  "changed_values",
  "fy_end_date",
  ...resultColumns,
] as const;

/** The rows of a CSV file of changes. Of reports that are not public now, they have only the IDs. */
export const listChangeRows = (shown: Changes, facts: PageContext["facts"]) =>
  shown.flatMap((change) =>
    kinds.flatMap((kind) =>
      change.first[kind].map((id) => {
        const report = findReport(change, kind, id);
        return {
          publication: change.number,
          published_at: change.published_at.toISOString(),
          change: kind,
          report_id: id,
          ...report,
          ...(report && listResult(report)),
          changed_parts: report?.parts,
          changed_values: report && listValues(report, facts).join("; "),
        };
      }),
    ),
  );

/** What is known of a report that was added or changed, if it is public now. */
const findReport = ({ reports }: Change, kind: Kind, id: string): ChangedReport | undefined =>
  kind === "removed" || !Object.hasOwn(reports, id) ? undefined : reports[id];

/** Requests whose addresses every proxy accepts. */
const mostInRequest = 200;

const linkToPage = (
  filter: ChangesFilter | undefined,
  { number, since, after }: Omit<AskedPublications, "unread"> = {},
): string => {
  const search = [
    filter?.search,
    number ? `number=${number}` : since && `since=${since}`,
    !number && after && `after=${after}`,
  ]
    .filter(Boolean)
    .join("&");
  return `/changes${search && `?${search}`}`;
};

/** Lists fewer reports of each publication, and none of the older ones once there are enough. */
function shorten(changes: Changes): Changes {
  let room = mostReports;
  return changes.map((change) => {
    const take = (kind: Kind) => {
      const ids = change.first[kind].slice(0, Math.min(mostOfEachKind, room));
      room -= ids.length;
      return ids;
    };
    return {
      ...change,
      first: { added: take("added"), changed: take("changed"), removed: take("removed") },
    };
  });
}

const describeFilter = ({ search }: ChangesFilter): Html =>
  html`Which of these reports each publication of Single Audit data added or changed. A report that is replaced, withdrawn or suppressed is
  removed: <a href="/changes">all changes</a> list the IDs of removed reports.${
    search.includes("u=") &&
    html` To see which reports of the list are public now,
  <a href="/check?${search.slice(search.indexOf("u="))}">check it</a>.`
  }`;

function writeUnread(unread: string[]): Content {
  return (
    unread.length > 0 &&
    html`<p class="notice">Not understood: ${unread.map((text, index) => html`${index > 0 && ", "}“${text}”`)}. A filter is a
  state, a program’s number (such as 93.778), an agency (such as 93 or HHS), a list of UEIs and EINs, or a date (such as 2026-01-31).</p>`
  );
}

function writeForm({ filter, publications: { since } }: View): Html {
  const { state = "", aln = "", ids = [] } = filter?.criteria ?? {};
  return html`<section class="only-screen" aria-labelledby="filter"><h2 id="filter">Filter the changes</h2>
<form class="narrow" action="/changes">
<div class="fields">
  <div class="field"><label for="state">State</label><select id="state" name="state"><option value="">All</option>${Object.entries(
    states,
  ).map(
    ([code, name]) => html`<option value="${code}"${code === state && html` selected`}>${name}</option>`,
  )}</select></div>
  <div class="field"><label for="aln">Program (ALN) or agency <span class="hint">such as 93.778 or HHS</span></label><input id="aln" name="aln" maxlength="100" autocomplete="off" value="${aln}"></div>
  <div class="field"><label for="list">UEIs and EINs</label><input id="list" name="u" autocomplete="off" value="${ids.join(", ")}"></div>
  <div class="field"><label for="since">Published since</label><input id="since" name="since" type="date" value="${since}"></div>
</div>
<button type="submit">Show the changes</button>
</form></section>`;
}

/** Characters that XML 1.0 does not allow. An auditee's name may contain one, and feed readers would refuse the feed. */
const notInXml = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** The same records as an Atom feed (RFC 4287). */
export function writeFeed(
  { appUrl, hasPublicData, facts }: Pick<PageContext, "appUrl" | "hasPublicData" | "facts">,
  changes: Changes,
  filter?: ChangesFilter,
  missing = noneMissing,
): string {
  const page = appUrl + linkToPage(filter);
  const entries = shorten(changes).flatMap((change) => {
    const address = appUrl + linkToPage(filter, change);
    const writeEntry = (id: string | number, title: string, link: string, content: Html) => html`<entry>
<id>${page}#${id}</id>
<title>${title}</title>
<updated>${change.published_at.toISOString()}</updated>
<link rel="alternate" type="text/html" href="${link}"/>
<content type="html">${content.html}</content>
</entry>
`;
    const reports = kinds.flatMap((kind) =>
      change.first[kind].map((id) => {
        const isPublic = findReport(change, kind, id) !== undefined;
        const link = isPublic ? `${appUrl}/record/${id}` : address;
        const content = html`<p>${writeReport(change, kind, id, { appUrl, facts })}</p>`;
        return writeEntry(`${change.number}-${id}`, nameChange(change, kind, id), link, content);
      }),
    );
    if (!isCut(change) && change.is_read !== false) return reports;
    const counts = describeCounts(change, filter);
    const content = html`<p>${counts}</p>${linkToMore(change, filter, appUrl)}${!filter && writeFileLink(hasPublicData, change, appUrl)}`;
    return [...reports, writeEntry(change.number, counts, address, content)];
  });
  return html`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${page}</id>
<title>${siteName}: changes${filter && ` to reports ${filter.words}`}</title>
<subtitle>${description}${missing !== noneMissing && html` ${listMissing(missing)}`}</subtitle>
<author><name>${siteName}</name></author>
<updated>${(changes[0]?.published_at ?? facts?.data_set?.published_at ?? new Date()).toISOString()}</updated>
<link rel="self" type="application/atom+xml" href="${appUrl}${linkToFeed(filter?.search ?? "")}"/>
<link rel="alternate" type="text/html" href="${page}"/>
${entries}</feed>
`.html.replace(notInXml, "");
}

function writeChange({ hasPublicData, facts }: PageContext, change: Change, filter?: ChangesFilter): Html {
  const { number, published_at: published } = change;
  return html`<section id="${number}" aria-labelledby="title-${number}">
<h2 id="title-${number}"><time datetime="${published.toISOString()}">${formatTime(published)}</time></h2>
<p>${describeCounts(change, filter)} Data set <code class="id">${change.data_set}</code>.</p>
${kinds.map((kind) => listReports(change, kind, facts))}
${linkToMore(change, filter)}
${(!filter || change.is_read === false) && writeFileLink(hasPublicData, change)}
</section>`;
}

/** "Reports: 3 added, 1 changed, none removed." With a filter, removed reports are not counted. */
function describeCounts({ counts, is_read: isRead }: Change, filter?: ChangesFilter): string {
  if (isRead === false) return "Too many reports changed to search them for these. See all report IDs.";
  const listed = kinds
    .filter((kind) => kind !== "removed" || filter === undefined)
    .map((kind) => `${counts[kind] === 0 ? "none" : formatNumber(counts[kind])} ${kind}`);
  return `Reports: ${listed.join(", ")}.`;
}

/** The parts of a report in words. */
const partWords: Record<ChangedPart, string> = {
  opinions: "opinions and disclosures",
  findings: "findings",
  texts: "texts of findings or plans",
  awards: "awards",
  amount: "total amount expended",
  notes: "notes to the SEFA",
  auditor: "auditor",
  auditee: "auditee’s name, kind or IDs",
  other: "other details",
};

const kindWords: Record<Kind, string> = { added: "new report", changed: "changed", removed: "removed" };

const nameFiscalYear = ({ fy_end_date: end, audit_year: year }: ChangedReport): string =>
  end ? `fiscal year ended ${formatDay(end)}` : year ? `audit year ${year}` : "fiscal year not stated";

/** "City of Alder, fiscal year ended June 30, 2023: changed. Not clean: 1 finding". Only public reports have more than an ID. */
function nameChange(change: Change, kind: Kind, id: string): string {
  const report = findReport(change, kind, id);
  return report === undefined
    ? `${id}: ${kindWords[kind]}`
    : `${report.auditee_name || id}, ${nameFiscalYear(report)}: ${kindWords[kind]}. ${capitalize(describeVerdict(report))}`;
}

/** A report and what happened to it. Only public reports have a name and a page. */
function writeReport(
  change: Change,
  kind: Kind,
  id: string,
  { appUrl, facts }: Pick<PageContext, "appUrl" | "facts">,
): Content {
  const report = findReport(change, kind, id);
  if (report === undefined) return id;
  const { auditee_name: name, replaces, parts } = report;
  const sentences = [
    `${id}, ${nameFiscalYear(report)}`,
    capitalize(describeVerdict(report)),
    replaces && `Replaces ${replaces}`,
    parts && `Changed: ${parts.map((part) => partWords[part]).join(", ")}`,
    ...listValues(report, facts),
  ].filter(Boolean);
  return html`<a href="${appUrl}/record/${id}">${name || "not stated"}</a> <span class="hint">${sentences.join(". ")}.</span>`;
}

/** ["Total amount expended: $2, was $1"] */
function listValues({ values }: ChangedReport, facts: PageContext["facts"]): string[] {
  const general = facts?.api[0]?.tables.find(({ name }) => name === "general");
  return Object.entries(values).map(([name, { old, new: now }]) => {
    const { label = name, words } = findColumn(general, name) ?? {};
    const [is, was] = [now, old].map((value) => {
      const isNumber = value !== null && isMoney(name);
      return value === null ? "not stated" : formatValue(name, isNumber ? Number(value) : value, words);
    });
    return `${label}: ${is}, was ${was}`;
  });
}

function listReports(change: Change, kind: Kind, facts: PageContext["facts"]): Html | false {
  const { counts, first } = change;
  const ids = first[kind];
  const shown =
    counts[kind] > ids.length ? `first ${ids.length} of ${formatNumber(counts[kind])}` : counts[kind];
  return (
    ids.length > 0 &&
    html`<details><summary>Reports ${kind} (${shown})</summary>
<ul class="toc">${ids.map((id) => html`<li>${writeReport(change, kind, id, { appUrl: "", facts })}</li>`)}</ul></details>`
  );
}

/** Whether the page of a publication lists more of its reports. */
const isCut = ({ counts, first }: Change): boolean =>
  kinds.some((kind) => first[kind].length < Math.min(counts[kind], mostOfEachKind + 1));

/** Leads to the page of a publication, which lists more of its reports. */
const linkToMore = (change: Change, filter?: ChangesFilter, base = ""): Html | false =>
  isCut(change) &&
  html`<p><a href="${base}${linkToPage(filter, change)}">More reports of this publication</a></p>`;

const writeFileLink = (hasPublicData: boolean, { number }: Change, base = ""): Html | false =>
  hasPublicData &&
  html`<p><a href="${base}/public-data/changes-${number}.csv.gz">All report IDs of this publication as compressed CSV</a></p>`;
