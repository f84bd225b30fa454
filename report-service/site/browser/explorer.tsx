import { render, type VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type ClientSettings, isAdmin } from "../client-settings.ts";
import { describeRequest, linkToExplorer } from "../example-request.ts";
import { type Query, readTarget, writeTarget } from "../query.ts";
import { demonstrationKey, type Language } from "../request-snippets.ts";
import { Scroll } from "../scroll.tsx";
import { CopyButton } from "./copy-button.tsx";
import { KeyField } from "./key-field.tsx";
import { QueryForm } from "./query-form.tsx";
import { readSettings } from "./read-settings.ts";
import { Refusal } from "./refusal.tsx";
import { AnswerStatus, ResultView } from "./result-view.tsx";
import { saveFile } from "./save-file.ts";
import { type Answer, sendRequest } from "./send-request.ts";
import { Snippets } from "./snippets.tsx";
import { useDescription } from "./use-description.ts";

const start: Query = { table: "general", columns: [], filters: [], order: [], limit: 20, offset: 0 };

/** The version, the query and what the form has no field for, from the part of the address behind #. */
function readHash(): { schema: string; query: Query; unknown: string[] } {
  const [, schema = "", target] = /^#?([a-z0-9_]*)(\/[a-z0-9_]+(?:\?.*)?)$/s.exec(location.hash) ?? [];
  return target === undefined ? { schema, query: start, unknown: [] } : { schema, ...readTarget(target) };
}

type Outcome = { answer: Answer; query: Query } | { problem: string };

function Explorer({ settings: { apiUrl, versions: served } }: { settings: ClientSettings }): VNode {
  // The others have functions and no tables.
  const versions = served.filter((version) => !isAdmin(version));
  const [{ schema, query, unknown }, setAsked] = useState(readHash);
  const version = versions.find((each) => each.schema === schema) ?? versions[0];
  const [isCounted, setIsCounted] = useState(false);
  const [isOwn, setIsOwn] = useState(false);
  const [own, setOwn] = useState("");
  const [language, setLanguage] = useState<Language>("curl");
  const [isWaiting, setIsWaiting] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const [state, askAgain] = useDescription(apiUrl, version, isOwn ? own : "");
  const usedSchema = version?.schema ?? "";

  useEffect(() => {
    const follow = () => {
      setAsked(readHash());
      setOutcome(undefined);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    if (usedSchema !== "") history.replaceState(null, "", linkToExplorer(usedSchema, query));
  }, [usedSchema, query]);

  if (version === undefined) {
    return (
      <p class="notice notice--error" role="alert">
        Which versions are served is not known now. Load this page again in a minute.
      </p>
    );
  }

  const change = (changed: Partial<Query>, schema = version.schema) =>
    setAsked({ schema, query: { ...query, offset: 0, ...changed }, unknown: [] });
  const describe = (asked: Query) => {
    const request = describeRequest(
      { apiUrl, schema: version.schema },
      asked,
      isOwn ? "own" : "demonstration",
    );
    return isCounted ? { ...request, headers: { ...request.headers, prefer: "count=exact" } } : request;
  };
  const send = async (asked: Query, headers: Record<string, string> = {}) => {
    setIsWaiting(true);
    try {
      const request = describe(asked);
      const key = isOwn ? own : demonstrationKey;
      return await sendRequest(request.url, { ...request.headers, ...headers }, key);
    } catch (error) {
      setOutcome({ problem: error instanceof Error ? error.message : String(error) });
      return undefined;
    } finally {
      setIsWaiting(false);
    }
  };
  const ask = async (asked: Query) => {
    const answer = await send(asked);
    if (answer !== undefined) setOutcome({ answer, query: asked });
  };
  const turn = (offset: number) => {
    const next = { ...query, offset };
    change(next);
    void ask(next);
  };
  const download = async () => {
    const answer = await send(query, { accept: "text/csv" });
    if (answer === undefined) return;
    if (answer.status === 200 || answer.status === 206) saveFile(`${query.table}.csv`, answer.text);
    else setOutcome({ answer, query });
  };

  const request = describe(query);
  const tables = state.state === "there" ? state.description.tables : [];
  return (
    <>
      {state.state === "asking" && <p role="status">Asking the API for its tables …</p>}
      {state.state === "refused" && <Refusal answer={state.answer} />}
      {state.state === "unreachable" && <p class="notice notice--error">{state.message}</p>}
      <form
        class="explorer"
        onSubmit={(event) => {
          event.preventDefault();
          if (state.state === "there") void ask(query);
          else askAgain();
        }}
      >
        <div>
          <KeyField own={own} isOwn={isOwn} choose={setIsOwn} setOwn={setOwn} />
          {state.state === "there" ? (
            <QueryForm
              versions={versions.map((each) => each.schema)}
              schema={version.schema}
              tables={tables}
              query={query}
              change={change}
              isCounted={isCounted}
              setIsCounted={setIsCounted}
            />
          ) : (
            state.state !== "asking" && <button type="submit">Ask again</button>
          )}
          {unknown.length > 0 && (
            <p class="notice">
              The link also asked for <code>{unknown.join("&")}</code>, which this form has no field for. It
              is left out.
            </p>
          )}
        </div>
        <div>
          <h2>Your request</h2>
          <Scroll label="Request line and headers" kind="code wrapped">
            <pre>
              <code id="request-line">
                {[
                  `GET ${writeTarget(query)}`,
                  `host: ${new URL(apiUrl).host}`,
                  ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
                  `x-api-key: ${isOwn ? "(your key)" : demonstrationKey}`,
                ].join("\n")}
              </code>
            </pre>
          </Scroll>
          <div class="actions">
            <button type="submit" disabled={isWaiting || state.state !== "there"}>
              Send the request
            </button>
            <button
              type="button"
              class="plain"
              disabled={isWaiting || state.state !== "there"}
              onClick={download}
            >
              Download CSV
            </button>
          </div>
          <h3>Take it along</h3>
          <Snippets id="snippet" request={request} language={language} choose={setLanguage} />
          <CopyButton
            name="Copy link"
            label="Copy link to this query"
            text={new URL(linkToExplorer(version.schema, query), location.href).href}
          />
        </div>
      </form>
      <section class="result" aria-labelledby="result">
        <h2 id="result">Answer</h2>
        <div role="status" id="status">
          {outcome === undefined && <p>Nothing has been sent yet.</p>}
          {outcome !== undefined && "problem" in outcome && (
            <p class="notice notice--error">{outcome.problem}</p>
          )}
          {outcome !== undefined && "answer" in outcome && <AnswerStatus answer={outcome.answer} />}
        </div>
        {outcome !== undefined && "answer" in outcome && (
          <ResultView
            answer={outcome.answer}
            offset={outcome.query.offset}
            limit={outcome.query.limit}
            isWaiting={isWaiting}
            turn={turn}
          />
        )}
      </section>
    </>
  );
}

const { root, settings } = readSettings("explorer");
render(<Explorer settings={settings} />, root);
