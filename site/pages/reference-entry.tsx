/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import type { ServedFunction, Table } from "../api-description.ts";
import { chooseExample, describeRequest, linkToExplorer } from "../example-request.ts";
import { type Language, languages, writeSnippet } from "../request-snippets.ts";
import { writeTarget } from "../write-target.ts";
import { Command } from "./layout.tsx";

/** A table: what it is, an example to take along, its columns, each with an address of its own. */
export function TableReference({
  table,
  target,
}: {
  table: Table;
  target: { apiUrl: string; schema: string };
}): VNode {
  const { name, title, description, columns } = table;
  const example = chooseExample(table);
  const request = describeRequest(target, writeTarget(example));
  return (
    <section class="reference-table" id={name} aria-labelledby={`${name}-heading`}>
      <h3 id={`${name}-heading`}>
        <a href={`#${name}`}>
          <code>{name}</code>
        </a>{" "}
        <span>{title}</span>
      </h3>
      <p class="description brief">{description}</p>
      <details>
        <summary>
          Example request<span class="visually-hidden"> for {name}</span>
        </summary>
        {(Object.keys(languages) as Language[]).map((language) => (
          <div key={language} class="snippet" data-language={language}>
            <Command label={`${name} in ${languages[language]}`} text={writeSnippet(language, request)} />
          </div>
        ))}
      </details>
      <p>
        <a href={linkToExplorer(target.schema, example)}>
          Open <code>{name}</code> in the explorer
        </a>
      </p>
      <table class="stacked">
        <caption class="visually-hidden">Columns of {name}</caption>
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Type</th>
            <th scope="col">What it is</th>
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => (
            <tr key={column.name} id={`${name}.${column.name}`}>
              <th scope="row">
                <a href={`#${name}.${column.name}`}>
                  <code>{column.name}</code>
                </a>
              </th>
              <td>{column.type}</td>
              <td>{column.description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A function of an admin version. */
export function FunctionReference({ served }: { served: ServedFunction }): VNode {
  return (
    <section class="reference-table" id={served.name} aria-labelledby={`${served.name}-heading`}>
      <h3 id={`${served.name}-heading`}>
        <code>POST /rpc/{served.name}</code> <span>{served.title}</span>
      </h3>
      <p>{served.description}</p>
      <ul>
        {served.parameters.map(({ name, type }) => (
          <li key={name}>
            <code>{name}</code> ({type})
          </li>
        ))}
      </ul>
      <p>
        <a href="/#tribal">The three steps, with commands</a>
      </p>
    </section>
  );
}
