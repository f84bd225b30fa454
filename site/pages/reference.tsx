/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import type { VersionDescription } from "../api-description.ts";
import { isAdmin } from "../client-settings.ts";
import type { PageContext } from "../page-context.ts";
import { type Language, languages } from "../request-snippets.ts";
import { Layout } from "./layout.tsx";
import { FunctionReference, TableReference } from "./reference-entry.tsx";
import { Versions } from "./versions.tsx";

/** Every table and column of a served version, and the functions for Tribal keys. */
export function ReferencePage(context: PageContext): VNode {
  const { facts } = context;
  return (
    <Layout
      context={context}
      path="/reference"
      title="Reference – Single Audit API"
      description="Every table and column of every served version of the Single Audit API, with requests to copy."
      scripts={["reference.js"]}
    >
      <div class="wrap page">
        <h1>Reference</h1>
        <p class="lead">
          Every table and column, as the database describes them, with requests that work as they are.
        </p>
        {facts === undefined ? (
          <p class="notice notice--error">
            The database did not answer, so the tables are not known now. Load this page again in a minute.
          </p>
        ) : (
          <Reference context={context} api={facts.api} />
        )}
        {facts && <Versions versions={facts.versions} />}
      </div>
    </Layout>
  );
}

function Reference({ context, api }: { context: PageContext; api: VersionDescription[] }): VNode {
  const versions = api.filter((each) => !isAdmin(each));
  const shown = versions.find(({ schema }) => schema === context.asked.version) ?? versions[0];
  const tables = shown?.tables ?? [];
  const columns = tables.reduce((sum, table) => sum + table.columns.length, 0);
  const target = { apiUrl: context.config.apiUrl, schema: shown?.schema ?? "" };
  return (
    <div id="reference">
      <h2 id="tables">Tables and columns</h2>
      {versions.length > 1 && (
        <nav aria-label="Versions">
          <ul class="toc">
            {versions.map(({ schema }) => (
              <li key={schema}>
                <a
                  href={`/reference?version=${schema}`}
                  aria-current={schema === shown?.schema ? "page" : undefined}
                >
                  {schema}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <p>
        <code>{shown?.schema}</code>: {shown?.description} <a href="#versions">How long it is served</a>
      </p>
      <div class="tools">
        <noscript>
          <p class="hint">Search this page with your browser: Ctrl+F, or ⌘F.</p>
        </noscript>
        <div class="field needs-script">
          <label for="search">Search tables and columns</label>
          <input id="search" type="search" autocomplete="off" aria-describedby="found" />
        </div>
        <Languages />
      </div>
      <p role="status" id="found" class="found">
        {columns} columns in {tables.length} tables
      </p>
      <nav aria-label="Tables" class="brief">
        <ul class="toc">
          {tables.map(({ name }) => (
            <li key={name}>
              <a href={`#${name}`}>
                <code>{name}</code>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      {tables.map((table) => (
        <TableReference key={table.name} table={table} target={target} />
      ))}
      {api.filter(isAdmin).map(({ schema, title, description, functions }) => (
        <section key={schema} class="brief" aria-labelledby={`${schema}-heading`}>
          <h2 id={`${schema}-heading`}>{title}</h2>
          <p>
            <code>{schema}</code>: {description}
          </p>
          {functions.map((served) => (
            <FunctionReference key={served.name} served={served} />
          ))}
        </section>
      ))}
    </div>
  );
}

/** Which language the examples are in: the style sheet shows those of the one that is chosen. */
function Languages(): VNode {
  return (
    <fieldset class="field">
      <legend>Examples in</legend>
      <div class="row">
        {(Object.keys(languages) as Language[]).map((language, index) => (
          <label class="check" key={language}>
            <input
              type="radio"
              name="language"
              id={`language-${language}`}
              value={language}
              defaultChecked={index === 0}
              autocomplete="off"
            />
            {languages[language]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
