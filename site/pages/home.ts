import { describeRateLimit, describeRequestsAtATime, readRateLimits } from "../../shared/read-rate-limits.ts";
import { readTimetable } from "../../shared/timetable.ts";
import { formatDay, formatNumber, formatTime } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import { errors } from "../openapi/describe-openapi.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery } from "../query.ts";
import { demonstrationKey, quoteShell, writeSnippet } from "../request-snippets.ts";
import { listExamples } from "../search/list-examples.ts";
import { linkToExplorer } from "../write-target.ts";
import { command, scroll, searchForm, siteName, table, writeDocument } from "./layout.ts";
import { hasYears, writeTotalYears } from "./total-charts.ts";

const example =
  "/general?select=report_id,auditee_name,audit_year&order=fac_accepted_date.desc.nullslast&limit=3";

/** The home page: search, current data, a first command, keys and limits, suppressed reports, errors. */
export function writeHome(context: PageContext): string {
  const { config } = context;
  const examples = listExamples(context.facts?.totals).slice(0, 3);
  const request = { url: config.apiUrl + example, headers: {}, key: "demonstration" } as const;
  return writeDocument(context, {
    path: "/",
    title: siteName,
    description:
      "Search federal single audits and what auditors found, or query them over HTTP as JSON and CSV.",
    body: html`<div class="hero"><div class="wrap">
<h1>Find federal single audits</h1>
<p class="lead">Single audits show what organizations spent of federal awards, what auditors found, and what the organizations
  plan to do about it.</p>
${searchForm("q", "Name of an auditee, auditor or program, city, UEI, EIN, report ID, ALN, agency, state or year")}
${
  examples.length > 0 &&
  html`<p class="hint">You can combine these: ${examples.map(
    (text, index) => html`${index > 0 && "; "}<a href="/search?q=${encodeURIComponent(text)}">${text}</a>`,
  )}</p>`
}
<p>You can also search <a href="/findings">what auditors found</a>, <a href="/check">check a list</a> of auditees, or
  <a href="#api">query the data</a> as JSON or CSV.</p>
</div></div>
<div class="wrap page">
${writeLive(context)}
<section aria-labelledby="api"><h2 id="api">Query the API</h2>
<p>This command gets the three newest reports. You can run it as is:</p>
${command("Command that gets the three newest reports", writeSnippet("curl", request))}
</section>
${writeKeys(config.contact)}
${writeTribal(context)}
${writeErrors()}
</div>`,
  });
}

/** The live data set: its age, its size, and when the next one is due. */
function writeLive(context: PageContext): Html {
  const {
    facts,
    config: { environment },
  } = context;
  const section = (body: Content) =>
    html`<section aria-labelledby="live"><h2 id="live">Current data</h2>${body}</section>`;
  if (facts === undefined) {
    return section(html`<p class="notice">The database did not answer, so the live figures are unknown. Reload this page in
      a minute.</p>`);
  }
  const dataSet = facts.data_set;
  // The notice at the top of the page says so.
  if (dataSet === null) return html``;
  const newest = facts.totals?.newest_submission;
  const time = (date: Date) => html`<time datetime="${date.toISOString()}">${formatTime(date)}</time>`;
  const [next] = (environment && readTimetable(environment)?.nextRuns(1)) ?? [];
  const entries: [string, Content][] = [
    ["Public reports", formatNumber(dataSet.rows.general ?? 0)],
    ["Newest report accepted", newest && html`<time datetime="${newest}">${formatDay(newest)}</time>`],
    ["Published", html`${time(dataSet.published_at)} <a href="/changes">See what changed</a>`],
    ["Next refresh due", next && time(next)],
  ];
  const tables = facts.api[0]?.tables ?? [];
  const rows = tables
    .filter(({ name }) => dataSet.rows[name] !== undefined)
    .map(({ name, title }) => ({
      cells: [
        html`<a href="/reference#${name}">${title}</a> <code>${name}</code>${name === "general" && " (without suppressed reports)"}`,
        formatNumber(dataSet.rows[name] ?? 0),
      ],
    }));
  return section(html`${writeYears(context)}
<dl class="facts">${entries.map(
    ([term, value]) => value && html`<div><dt>${term}</dt><dd>${value}</dd></div>`,
  )}</dl>
${scroll("Public rows in each table", table("Public rows in each table", ["Table", { text: "Public rows", isNumber: true }], rows))}
<p>The API also has a row in <code>general</code> for each suppressed report: its ID and
  <code>is_public = false</code>. A count of <code>general</code> includes these rows.</p>`);
}

/** What public reports state for each year, as a chart. The totals have the numbers. */
const writeYears = (context: PageContext): Html | false =>
  hasYears(context) &&
  html`${writeTotalYears(context)}
<p>See the <a href="/totals">totals</a> of each program, state and agency.</p>`;

/** What each kind of key can see, its limits, and how to get one. */
function writeKeys(contact: string | undefined): Html {
  const limits = readRateLimits();
  const issue =
    contact === undefined
      ? html`<a href="#own-machine">Issue one on your own machine</a>`
      : html`<a href="${contact}">Ask the operator</a>`;
  const keys: [tier: string, name: Content, sees: string, how: Content][] = [
    ["demo", html`Demonstration: <code>${demonstrationKey}</code>`, "Public data", "No sign-up needed."],
    ["individual", "Individual", "Public data", html`${issue}. Free.`],
    [
      "tribal",
      "Tribal",
      "Public data and suppressed Tribal data",
      html`${issue}. The key expires after six months, and requires an agreement that a federal official approved.`,
    ],
  ];
  const rows = keys.map(([tier, name, sees, how]) => ({
    cells: [name, sees, describeRateLimit(limits, tier), how],
  }));
  return html`<section aria-labelledby="keys"><h2 id="keys">Keys and limits</h2>
<p>Send a key with each request, in the header <code>x-api-key</code>.</p>
${table("Kinds of keys, their limits, and how to get one", ["Key", "Access to", "Limit", "How to get it"], rows)}
<p>After that many requests, the API answers 429 until the next hour or day begins (UTC). Every response says how many requests
  are left (<code>X-RateLimit-Remaining</code>) and in how many seconds that limit resets (<code>RateLimit-Reset</code>). A
  request returns at most 20,000 rows: page with <code>limit</code> and <code>offset</code>.</p>
<p>${describeRequestsAtATime(limits)} Beyond that, the API answers 429, which does not count.</p>
${contact === undefined && ownMachine}</section>`;
}

/** If no contact is configured, the visitor probably runs the service. */
const ownMachine = html`<h3 id="own-machine">Issue a key on your own machine</h3>
<p>Run the commands in the project’s directory, where you ran <code>npm start</code>. That command printed
  an individual and a Tribal key, which are also in <code>.stack/stack.json</code>. To issue another key:</p>
${command("Issue an individual key", "npm run -s keys -- issue --tier individual --owner you@example.gov")}
<p>A Tribal key is issued under an approved agreement. To record a request and its approval, then issue the key:</p>
${command(
  "Issue a Tribal key",
  `AGREEMENT=$(npm run -s agreements -- request --json --organization "Example Nation" \\
  --contact you@example.gov | grep -oE '[0-9a-f]{8}(-[0-9a-f]{4,12}){4}')
npm run -s agreements -- approve $AGREEMENT --official "Ada Official" \\
  --agency "Department of Examples" --email ada.official@example.gov
npm run -s keys -- issue --tier tribal --owner you@example.gov --agreement $AGREEMENT`,
)}`;

/** The three steps to the PDF of a suppressed report. */
function writeTribal({ config, appUrl, facts }: PageContext): Html {
  const isSuppressed = { column: "is_public", operator: "eq", value: "false" } as const;
  const suppressed = linkToExplorer(facts?.api[0]?.schema ?? "", { ...emptyQuery, filters: [isSuppressed] });
  const step = (title: string, text: Content, code: string) =>
    html`<li><h3>${title}</h3><p>${text}</p>${command(`Command: ${title}`, code)}</li>`;
  return html`<section aria-labelledby="tribal"><h2 id="tribal">Suppressed Tribal reports, in three steps</h2>
<p>A Tribe may keep its audit data from public display (2 CFR 200.512(b)(2)). With other keys, you see
  only the report’s ID and <code>is_public = false</code> in <code>general</code>. With a Tribal key, you see the whole report and can
  download its PDF.</p>
<p>In a browser, open the <a href="${suppressed}">list of suppressed reports</a>, choose a report, and enter your key. In a
  program, take these steps:</p>
<ol class="steps">${[
    step(
      "Find the report",
      html`Set the key and the ID of a suppressed report. The other steps use them.`,
      `TRIBAL_KEY=YOUR_KEY
REPORT_ID=YOUR_REPORT_ID
curl -sS "${config.apiUrl}/general?report_id=eq.$REPORT_ID" -H "x-api-key: $TRIBAL_KEY"`,
    ),
    step(
      "Request access",
      html`The answer has an <code>access_uuid</code>. It works once, and only ${facts ? `for ${facts.token_seconds} seconds` : html`until <code>expires_at</code>`}.`,
      `ACCESS_UUID=$(curl -sS ${quoteShell(`${config.apiUrl}/rpc/request_file_access`)} \\
  -H "x-api-key: $TRIBAL_KEY" -H 'content-type: application/json' \\
  -d "{\\"report_id\\": \\"$REPORT_ID\\"}" \\
  | grep -oE '[0-9a-f]{8}(-[0-9a-f]{4,12}){4}')`,
    ),
    step(
      "Download the PDF",
      html`The URL redirects to a signed URL that works for a minute or less. If you get 503, run the command again a few seconds later; if that gets 404, request access again.`,
      `curl -sS -L -o report.pdf "${appUrl}/dissemination/report/pdf/ota/$ACCESS_UUID"`,
    ),
  ]}</ol></section>`;
}

function writeErrors(): Html {
  const rows = Object.entries(errors).map(([status, text]) => ({ cells: [status, text] }));
  return html`<section aria-labelledby="errors"><h2 id="errors">Errors</h2>
<p>Every error has an HTTP status and a JSON body. <code>message</code> says what happened, and <code>hint</code> what to do
  next.</p>
${table("Errors and what to do", ["Status", "What happened, and what to do"], rows)}</section>`;
}
