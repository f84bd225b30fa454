import { listCalls, type ServedFunction, type Table, type VersionDescription } from "../api-description.ts";
import { isAdmin } from "../client-settings.ts";
import { writeUtcDate } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import type { FactsContext, PageContext } from "../page-context.ts";
import { emptyQuery, kindOf } from "../query.ts";
import type { ServiceFacts } from "../service-facts.ts";
import { linkToExplorer } from "../write-target.ts";
import { table, writeDocument } from "./layout.ts";

/** Every table and column of a version, and how to request a one-time token. */
export function writeReference(context: FactsContext): string {
  const { facts } = context;
  return writeDocument(context, {
    path: "/reference",
    title: "Reference",
    description: "Every table and column of the Single Audit API.",
    scripts: ["reference.js"],
    body: html`<div class="wrap page">
<h1>Reference</h1>
${writeTables(context, facts.api)}
${writeVersions(facts.versions)}
</div>`,
  });
}

function writeTables({ asked }: PageContext, api: VersionDescription[]): Html {
  const versions = api.filter((each) => !isAdmin(each));
  const shown = versions.find(({ schema }) => schema === asked.version) ?? versions[0];
  const tables = shown?.tables ?? [];
  const calls = shown === undefined ? [] : listCalls(shown);
  const schema = shown?.schema ?? "";
  const columns = tables.reduce((sum, each) => sum + each.columns.length, 0);
  return html`<div id="reference">
<p class="lead">Every table and column of <code>${schema}</code>.
  <a href="#versions">How long it is served</a></p>
${
  versions.length > 1 &&
  html`<nav aria-label="Versions"><ul class="choices">${versions.map(
    (each) =>
      html`<li><a href="/reference?version=${each.schema}"${each === shown && html` aria-current="page"`}>${each.schema}</a></li>`,
  )}</ul></nav>`
}
<div class="field needs-script">
  <label for="search">Search tables and columns</label>
  <input id="search" type="search" autocomplete="off" aria-describedby="found">
</div>
<p role="status" id="found">${columns} columns in ${tables.length} tables</p>
<nav aria-label="Tables" class="brief"><ul class="toc">
  ${tables.map(({ name }) => html`<li><a href="#${name}"><code>${name}</code></a></li>`)}
</ul></nav>
${tables.map((each) => describeTable(each, schema))}
${
  calls.length > 0 &&
  html`<section class="brief" aria-labelledby="functions-heading">
<h2 id="functions-heading">Functions</h2>
${calls.map(describeFunction)}</section>`
}
</div>`;
}

function describeTable({ name, title, description, columns }: Table, schema: string): Html {
  const rows = columns.map((column) => ({
    id: `${name}.${column.name}`,
    cells: [
      html`${column.label} <a href="#${name}.${column.name}"><code>${column.name}</code></a>`,
      kindOf(column.type),
      writeCode(column.description),
    ],
  }));
  return html`<section class="reference-table" id="${name}" aria-labelledby="${name}-heading">
<h2 id="${name}-heading">${title} <a href="#${name}"><code>${name}</code></a></h2>
<p class="description brief">${writeCode(description)}</p>
<p><a href="${linkToExplorer(schema, { ...emptyQuery, table: name })}">Open <code>${name}</code> in the explorer</a></p>
${table(`Columns of ${name}`, ["Column", "Type", "Description"], rows)}</section>`;
}

/** Text between backticks is code. */
const writeCode = (text: string): Content =>
  text.split("`").map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`));

function describeFunction({ name, title, description, parameters }: ServedFunction): Html {
  return html`<section id="${name}" aria-labelledby="${name}-heading">
<h3 id="${name}-heading">${title} <code>POST /rpc/${name}</code></h3>
<p>${description}</p>
<ul>${parameters.map((parameter) => html`<li><code>${parameter.name}</code> (${parameter.type})</li>`)}</ul>
<p><a href="/#tribal">The three steps, with commands</a></p></section>`;
}

/** How long each version is served. */
function writeVersions(versions: ServiceFacts["versions"]): Html {
  const day = (date: Date | null) => (date ? writeUtcDate(date) : "none announced");
  const rows = versions.map((version) => ({
    cells: [
      html`<code>${version.schema}</code>${isAdmin(version) && html` <span class="hint">needs a Tribal key</span>`}`,
      html`${day(version.deprecated_at)}${
        version.link !== null &&
        html` <a href="${version.link}">How to migrate<span class="visually-hidden"> from ${version.schema}</span></a>`
      }`,
      day(version.sunset_at),
    ],
  }));
  return html`<section aria-labelledby="versions"><h2 id="versions">Versions</h2>
<p>Send a version’s name in the header <code>accept-profile</code>. Without it, you get the one with the lowest number: <code>${versions[0]?.schema}</code>.</p>
${table("Served versions, with their deprecation and sunset", ["Version", "Deprecated from", "Served at least until"], rows)}
</section>`;
}
