import { type Content, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import { writeDocument } from "./layout.ts";

/** An error page for people: what happened, what to do, where to go. */
export function writeProblem(
  context: PageContext,
  status: number,
  { message, details, hint }: { message: string; details?: string | null; hint?: string | null },
): string {
  return writeDocument(context, {
    title: message.replace(/\.$/, ""),
    description: message,
    body: html`<div class="wrap page">
<p class="hint">Status ${status}</p>
<h1>${message}</h1>
${details && html`<p>${details}</p>`}
${hint && html`<p>${hint}</p>`}
<ul>
  <li><a href="/">Overview</a>: search for an audit, get a key, and <a href="/#errors">see what errors mean</a></li>
  <li><a href="/explorer">Explorer</a>: find reports and download them</li>
</ul>
</div>`,
  });
}

/** A page in place of one for something that the public cannot see, and what to do instead. */
export function writeNotFound(context: PageContext, title: string, advice: Content): string {
  return writeDocument(context, {
    title,
    description: title,
    body: html`<div class="wrap page">
<p class="hint">Status 404</p>
<h1>${title}</h1>
<p>${advice}</p>
</div>`,
  });
}
