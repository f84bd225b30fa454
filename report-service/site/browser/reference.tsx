import { render, type VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type ClientSettings, isAdmin, type ServedVersion } from "../client-settings.ts";
import type { Language } from "../request-snippets.ts";
import { Scroll } from "../scroll.tsx";
import { KeyField } from "./key-field.tsx";
import { NoVersion } from "./no-version.tsx";
import type { Table } from "./read-description.ts";
import { readSettings } from "./read-settings.ts";
import { FunctionReference, TableReference } from "./reference-entry.tsx";
import { Refusal } from "./refusal.tsx";
import { search } from "./search.ts";
import { useDescription } from "./use-description.ts";

function Reference({ settings: { apiUrl, versions } }: { settings: ClientSettings }): VNode {
  const [version, setVersion] = useState<ServedVersion | undefined>(versions[0]);
  const [words, setWords] = useState("");
  const [language, setLanguage] = useState<Language>("curl");
  const [isOwn, setIsOwn] = useState(false);
  const [own, setOwn] = useState("");
  const [state, askAgain] = useDescription(apiUrl, version, isOwn ? own : "");
  const found = useMemo(
    () => (state.state === "there" ? search(state.description.tables, words) : []),
    [state, words],
  );
  // The part that a link names is there only now.
  useEffect(() => {
    if (state.state === "there" && location.hash !== "") {
      document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
    }
  }, [state]);

  if (version === undefined) return <NoVersion />;
  const columns = found.reduce((sum, table) => sum + table.columns.length, 0);
  return (
    <>
      <h2>Tables and columns</h2>
      <div class="row">
        <div class="field">
          <label for="version">Version</label>
          <select
            id="version"
            value={version.schema}
            onChange={(event) =>
              setVersion(versions.find(({ schema }) => schema === event.currentTarget.value))
            }
          >
            {versions.map(({ schema }) => (
              <option key={schema} value={schema}>
                {schema}
              </option>
            ))}
          </select>
        </div>
        <div class="field field--wide">
          <label for="search">Search tables and columns</label>
          <input
            id="search"
            type="search"
            value={words}
            autocomplete="off"
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </div>
      </div>
      <p class="hint">
        <a href="#versions">How long each version is served</a>
      </p>
      <p role="status" class="found">
        {state.state === "asking" && "Asking the API …"}
        {state.state === "there" &&
          state.description.tables.length > 0 &&
          `${columns} ${columns === 1 ? "column" : "columns"} in ${found.length} ${found.length === 1 ? "table" : "tables"}`}
      </p>
      {(isAdmin(version) || state.state === "refused") && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            askAgain();
          }}
        >
          {isAdmin(version) && (
            <p class="notice">This version is described to keys with Tribal access alone.</p>
          )}
          <KeyField own={own} isOwn={isOwn} choose={setIsOwn} setOwn={setOwn} />
          <p>
            <button type="submit">Ask again</button>
          </p>
        </form>
      )}
      <div aria-live="polite">
        {state.state === "refused" && <Refusal answer={state.answer} />}
        {state.state === "unreachable" && (
          <div class="notice notice--error">
            <p>{state.message}</p>
            <p>
              <button type="button" onClick={askAgain}>
                Ask again
              </button>
            </p>
          </div>
        )}
      </div>
      {state.state === "there" && (
        <>
          {words.trim() === "" && <p>{state.description.description}</p>}
          {found.length > 1 && <Contents tables={found} />}
          {found.map((table) => (
            <TableReference
              key={table.name}
              table={table}
              target={{ apiUrl, schema: version.schema }}
              language={language}
              choose={setLanguage}
              isBrief={words.trim() !== ""}
            />
          ))}
          {state.description.functions.map((served) => (
            <FunctionReference key={served.name} served={served} />
          ))}
        </>
      )}
      <Versions versions={versions} />
    </>
  );
}

function Contents({ tables }: { tables: Table[] }): VNode {
  return (
    <nav aria-label="Tables">
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
  );
}

function Versions({ versions }: { versions: ServedVersion[] }): VNode {
  const day = (text: string | undefined) => (text === undefined ? "none announced" : text.slice(0, 10));
  return (
    <section aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <p>
        A request names its version in <code>accept-profile</code>; one that names none gets{" "}
        <code>{versions[0]?.schema}</code>, the oldest.
      </p>
      <Scroll label="Versions">
        <table>
          <caption class="visually-hidden">Served versions, their deprecation and sunset</caption>
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">Deprecated from</th>
              <th scope="col">Served until at least</th>
            </tr>
          </thead>
          <tbody>
            {versions.map((version) => (
              <tr key={version.schema}>
                <th scope="row">
                  <code>{version.schema}</code>
                  {isAdmin(version) && <span class="hint">needs a Tribal key</span>}
                </th>
                <td>
                  {day(version.deprecatedAt)}
                  {version.link !== undefined && (
                    <>
                      {" "}
                      <a href={version.link}>
                        How to move on<span class="visually-hidden"> from {version.schema}</span>
                      </a>
                    </>
                  )}
                </td>
                <td>{day(version.sunsetAt)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

const { root, settings } = readSettings("reference");
render(<Reference settings={settings} />, root);
