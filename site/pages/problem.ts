import { noSuchPage } from "../../shared/web/error-responses.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import { cut } from "../search/words.ts";
import { decode } from "../write-target.ts";
import { searchForm, writeDocument } from "./layout.ts";

interface Problem {
  code?: string;
  message: string;
  details?: string | null;
  hint?: string | null;
}

/** An error page for people: what happened, what to do, where to go. */
export function writeProblem(
  context: PageContext,
  status: number,
  { code, message, details, hint }: Problem,
  target = "",
): string {
  return writeDocument(context, {
    title: message.replace(/\.$/, ""),
    description: message,
    body: html`<div class="wrap page">
<p class="hint">Status ${status}</p>
<h1>${message}</h1>
${details && html`<p>${details}</p>`}
${code === noSuchPage.body.code ? writeAddresses(target) : hint && html`<p>${hint}</p>`}
<ul>
  <li><a href="/">Overview</a>: search for a report, get a key, and <a href="/#errors">see what errors mean</a></li>
  <li><a href="/explorer">Explorer</a>: find reports and download them</li>
</ul>
</div>`,
  });
}

/** Which address was asked for, what may be wrong with it, and where to search. */
function writeAddresses(target: string): Html {
  const [path = ""] = target.split("?");
  return html`<p>You asked for <code class="address">${cut(decode(path), 200)}</code>. The address may be mistyped, or the end of it may be missing. Addresses
  with an ID look like these:</p>
<ul>
  <li><code>/record/2023-06-GSAFAC-0000000001</code>: a report, by its report ID</li>
  <li><code>/auditee/ABCDEFGH1234</code>: an auditee, by its UEI or EIN</li>
  <li><code>/program/93.778</code>, <code>/agency/93</code>, <code>/state/TX</code>: findings and totals by program (ALN), agency or state</li>
</ul>
${searchAgain}`;
}

const searchAgain = searchForm("search-again", "Search for a name, a city, a program or an ID");

/** A page in place of one for something that the public cannot see, and what to do instead. */
export function writeNotFound(context: PageContext, title: string, advice: Content): string {
  return writeDocument(context, {
    title,
    description: title,
    body: html`<div class="wrap page">
<p class="hint">Status 404</p>
<h1>${title}</h1>
${advice}
${searchAgain}
</div>`,
  });
}
