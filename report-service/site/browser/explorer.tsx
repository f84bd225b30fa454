import { render, type VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type ClientSettings, isAdmin } from "../client-settings.ts";
import { describeRequest, linkToExplorer } from "../example-request.ts";
import { type Query, readTarget } from "../query.ts";
import { demonstrationKey } from "../request-snippets.ts";
import { KeyField } from "./key-field.tsx";
import { NoVersion } from "./no-version.tsx";
import { QueryForm } from "./query-form.tsx";
import { readSettings } from "./read-settings.ts";
import { Refusal } from "./refusal.tsx";
import { RequestPart } from "./request-part.tsx";
import { AnswerStatus, ResultView } from "./result-view.tsx";
import { useDescription } from "./use-description.ts";
import { type Outcome, useSending } from "./use-sending.ts";

const start: Query = { table: "general", columns: [], filters: [], order: [], limit: 20, offset: 0 };

/** The version, the query and what the form has no field for, from the part of the address behind #. */
function readHash(): { schema: string; query: Query; unknown: string[] } {
  const [, schema = "", target] = /^#?([a-z0-9_]*)(\/[a-z0-9_]+(?:\?.*)?)$/s.exec(location.hash) ?? [];
  return target === undefined ? { schema, query: start, unknown: [] } : { schema, ...readTarget(target) };
}

/** What the address names, also after the visitor has changed it. */
function useAddress() {
  const [asked, setAsked] = useState(readHash);
  useEffect(() => {
    const follow = () => setAsked(readHash());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return [asked, setAsked] as const;
}

function Explorer({ settings: { apiUrl, versions: served } }: { settings: ClientSettings }): VNode {
  // The others have functions and no tables.
  const versions = served.filter((version) => !isAdmin(version));
  const [{ schema, query, unknown }, setAsked] = useAddress();
  const version = versions.find((each) => each.schema === schema) ?? versions[0];
  const [isCounted, setIsCounted] = useState(false);
  const [isOwn, setIsOwn] = useState(false);
  const [own, setOwn] = useState("");
  const [state, askAgain] = useDescription(apiUrl, version, isOwn ? own : "");
  const usedSchema = version?.schema ?? "";

  const describe = (asked: Query) => {
    const request = describeRequest({ apiUrl, schema: usedSchema }, asked, isOwn ? "own" : "demonstration");
    return isCounted ? { ...request, headers: { ...request.headers, prefer: "count=exact" } } : request;
  };
  const { isWaiting, outcome, ask, download } = useSending(describe, isOwn ? own : demonstrationKey);

  useEffect(() => {
    if (usedSchema !== "") history.replaceState(null, "", linkToExplorer(usedSchema, query));
  }, [usedSchema, query]);

  if (version === undefined) return <NoVersion />;

  const change = (changed: Partial<Query>, schema = version.schema) =>
    setAsked({ schema, query: { ...query, offset: 0, ...changed }, unknown: [] });
  const turn = (offset: number) => {
    const next = { ...query, offset };
    change(next);
    void ask(next);
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
          <RequestPart
            target={{ apiUrl, schema: version.schema }}
            query={query}
            request={request}
            isOwn={isOwn}
            isDisabled={isWaiting || state.state !== "there"}
            download={() => void download(query)}
          />
        </div>
      </form>
      <ResultPart outcome={outcome} isWaiting={isWaiting} turn={turn} />
    </>
  );
}

function ResultPart({
  outcome,
  isWaiting,
  turn,
}: {
  outcome: Outcome | undefined;
  isWaiting: boolean;
  turn: (offset: number) => void;
}): VNode {
  return (
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
  );
}

const { root, settings } = readSettings("explorer");
render(<Explorer settings={settings} />, root);
