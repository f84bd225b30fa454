import { type Content, type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import { searchesAMinute } from "../search/limit-queries.ts";
import { longestSearch } from "../search/read-search.ts";

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='3' fill='%231a4480'/%3E%3Cpath d='M4 12V8m4 4V4m4 8V6' stroke='white' stroke-width='2'/%3E%3C/svg%3E";

const noDataSet = html`<div class="wrap"><p class="notice">No data set has been published yet. Until then, the API, the totals
  and the files answer 503. Try again later.</p></div>
`;

export const siteName = "Federal Single Audits";
export const feedPath = "/changes.atom";
export const linkToFeed = (search: string): string => `${feedPath}${search && `?${search}`}`;

export interface Page {
  /** The page's path, if the navigation lists it. */
  path?: string;
  title: string;
  description: string;
  /** The query string of the page's Atom feed of changes. Empty for the feed of all changes. */
  feed?: string | undefined;
  /** Scripts besides the one that every page has. */
  scripts?: string[];
  /** A file that a script fetches. */
  preload?: string | undefined;
  body: Content;
}

/**
 * Writes a whole document: the page's content with the header and footer that all pages share. Browsers that know
 * `rel="expect"` render nothing before the footer is there, because columns of tables and fields of forms move while more of them arrive.
 */
export function writeDocument({ config, facts, hasPublicData, locate }: PageContext, page: Page): string {
  const links = [
    ["/findings", "Findings"],
    ["/check", "Check"],
    ["/totals", "Totals"],
    ["/explorer", "Explorer"],
    ...(hasPublicData ? [["/files", "Files"]] : []),
  ];
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${page.title === siteName ? siteName : `${page.title} – ${siteName}`}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${page.description}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${locate("site.css")}">
<link rel="expect" href="#site-footer" blocking="render">
${page.feed !== undefined && html`<link rel="alternate" type="application/atom+xml" href="${linkToFeed(page.feed)}">`}
${page.preload && html`<link rel="preload" as="fetch" href="${page.preload}" crossorigin="anonymous">`}
${["page.js", ...(page.scripts ?? [])].map((script) => html`<script type="module" src="${locate(script)}"></script>`)}
</head>
<body>
<a class="skip-link" href="#main">Skip to main content</a>
<header class="site-header">
  <div class="wrap">
    <a class="site-name" href="/">Single Audits</a>
    <a class="only-narrow" href="/search">Search</a>
    <nav aria-label="Pages">
      <ul class="choices">${links.map(
        ([path, text]) =>
          html`<li><a href="${path}"${path === page.path && html` aria-current="page"`}>${text}</a></li>`,
      )}</ul>
    </nav>
    ${page.path !== "/search" && searchReports()}
  </div>
</header>
<main id="main" tabindex="-1">${
    // An error page says it itself.
    page.path !== undefined && facts?.data_set === null && noDataSet
  }${page.body}</main>
<footer class="site-footer" id="site-footer">
  <div class="wrap">
    <p>Reports of federal single audits (2 CFR part 200, subpart F). This site sets no cookies and loads
      nothing from other hosts. You and others at your internet address may together open ${searchesAMinute} searches, lists and reports a
      minute. Programs should use the <a href="/#api">API</a>.</p>
    <ul class="choices">
      ${config.contact && html`<li><a href="${config.contact}">Contact</a></li>`}
      <li><a href="/changes">Changes</a></li>
      <li><a href="/reference">Reference</a></li>
      <li><a href="/openapi.json">OpenAPI</a></li>
      <li><a href="/.well-known/security.txt">Report a vulnerability</a></li>
    </ul>
  </div>
</footer>
</body>
</html>`;
  return document.html;
}

/** The form that every page has: in its header, and on /search, also on narrow screens, above the results. */
export const searchReports = (searched?: string): Html =>
  searchForm("search-all", "Search reports", searched, "visually-hidden");

/** A form that searches the reports. It works without JavaScript. */
export function searchForm(id: string, label: string, searched = "", labelClass = ""): Html {
  return html`<form class="search" action="/search" role="search" aria-label="${label}">
  <label for="${id}" class="${labelClass}">${label}</label>
  <div class="row"><input id="${id}" name="q" type="search" required maxlength="${longestSearch}" autocomplete="off" value="${searched}">
    <button type="submit">Search</button></div>
</form>`;
}

/** Content that may be wider than its container. It scrolls inside it, also by keyboard. */
export function scroll(label: string, body: Content, kind = ""): Html {
  return html`<div class="scroll ${kind}" role="group" aria-label="${label}" tabindex="0">${body}</div>`;
}

/** A link whose address is on paper too. */
export const printedLink = (appUrl: string, path: string, text: Content): Html =>
  html`<a href="${path}">${text}</a><span class="print-only address"> (${appUrl}${path})</span>`;

/** A button that copies a text, or the command before it. It is hidden without JavaScript. */
export function copyButton(label: string, text = "", name = "Copy"): Html {
  return html`<button type="button" class="plain needs-script" aria-label="${label}" data-copy="${text}"
    >${name}</button> <span role="status"></span>`;
}

/** A command, and a button that copies it. */
export function command(label: string, text: string): Html {
  const code = scroll(label, html`<pre><code>${text}</code></pre>`, "code wrapped");
  return html`<div class="command">${code}${copyButton(`Copy: ${label}`)}</div>`;
}

interface Heading {
  text: string;
  isNumber?: boolean;
  /** The URL that sorts by this column. */
  link?: string;
  /** What sorts by this column, if it is no link. It contains the text. */
  control?: Html;
  sorted?: "descending" | "ascending" | false;
}

interface Row {
  id?: string;
  isMarked?: boolean;
  cells: Content[];
}

/** A table. The first cell of a row is its heading. On narrow screens each row becomes a list. */
export function table(caption: string, headings: (Heading | string)[], rows: Row[]): Html {
  const columns = headings.map(
    (heading): Heading => (typeof heading === "string" ? { text: heading } : heading),
  );
  const alignments = columns.map(({ isNumber }) => isNumber && html` class="number"`);
  const labels = columns.map(({ text }) => html` data-label="${text}"`);
  return html`<table class="stacked">
<caption class="visually-hidden">${caption}</caption>
<thead><tr>${columns.map(
    ({ text, link, control, sorted }, index) =>
      html`<th scope="col"${alignments[index]}${sorted && html` aria-sort="${sorted}"`}>${link ? html`<a href="${link}">${text}</a>` : (control ?? text)}</th>`,
  )}</tr></thead>
<tbody>${rows.map(
    ({ id, isMarked, cells: [first, ...rest] }) =>
      html`<tr${id && html` id="${id}"`}${isMarked && html` class="marked"`}><th scope="row">${first}</th>${rest.map(
        (cell, index) => html`<td${alignments[index + 1]}${labels[index + 1]}>${cell}</td>`,
      )}</tr>
`,
  )}</tbody>
</table>`;
}
