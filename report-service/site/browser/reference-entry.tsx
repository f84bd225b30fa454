import type { VNode } from "preact";
import { chooseExample, describeRequest, linkToExplorer } from "../example-request.ts";
import type { Language } from "../request-snippets.ts";
import { Scroll } from "../scroll.tsx";
import type { ServedFunction, Table } from "./read-description.ts";
import { Snippets } from "./snippets.tsx";

/** A table: what it is, an example to take along, its columns. */
export function TableReference({
  table,
  target,
  language,
  choose,
  isBrief,
}: {
  table: Table;
  target: { apiUrl: string; schema: string };
  language: Language;
  choose: (language: Language) => void;
  /** Shows no more than the columns. */
  isBrief: boolean;
}): VNode {
  const { name, title, description, columns } = table;
  const example = chooseExample(table);
  return (
    <section class="reference-table" id={name} aria-labelledby={`${name}-heading`}>
      <h3 id={`${name}-heading`}>
        <code>{name}</code> <span>{title}</span>
      </h3>
      {!isBrief && (
        <>
          <p class="description">{description}</p>
          <details>
            <summary>
              Example request<span class="visually-hidden"> for {name}</span>
            </summary>
            <Snippets
              id={`${name}-example`}
              request={describeRequest(target, example)}
              language={language}
              choose={choose}
            />
          </details>
          <p>
            <a href={linkToExplorer(target.schema, example)}>
              Open <code>{name}</code> in the explorer
            </a>
          </p>
        </>
      )}
      <Scroll label={`Columns of ${name}`} kind="wide">
        <table>
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
                  <code>{column.name}</code>
                </th>
                <td>{column.type}</td>
                <td>{column.description}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
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
