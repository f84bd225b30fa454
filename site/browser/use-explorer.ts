import { useEffect, useRef, useState } from "preact/hooks";
import type { Table, VersionDescription } from "../api-description.ts";
import { isAdmin } from "../client-settings.ts";
import { normalizeQuery } from "../normalize-query.ts";
import type { Query } from "../query.ts";
import { demonstrationKey } from "../request-snippets.ts";
import { chooseTieBreakers } from "../table-facts.ts";
import { writeTarget } from "../write-target.ts";
import { findProblems } from "./find-problems.ts";
import { keepDocument } from "./keep-document.ts";
import { type Asked, nothingAsked, readAddress } from "./read-address.ts";
import { type Outcome, readOutcome } from "./read-outcome.ts";
import { type Answer, sendRequest } from "./send-request.ts";

/** What a query goes into: where the page stands in the browser's history, and whether all pages are of one data set. */
interface Sending {
  /** Nothing where the address is there already. */
  history?: "push" | "replace";
  /** The ETag of the first page. */
  etag?: string | undefined;
  /** Leaves the form as it is. */
  isAside?: boolean;
}

/** The form, the key, the last answer, and what moves them. */
export function useExplorer(apiUrl: string, versions: VersionDescription[]) {
  const [form, setForm] = useState<Asked>(() => readAddress() ?? nothingAsked);
  const [own, setOwn] = useState({ isUsed: false, key: "" });
  const [isCounted, setIsCounted] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const [latest, setLatest] = useState<Answer>();
  const [isWaiting, setIsWaiting] = useState(false);
  const running = useRef<AbortController | undefined>(undefined);
  const key = own.isUsed ? own.key : demonstrationKey;
  const hasOwn = useRef(false);
  hasOwn.current = own.key !== "";

  const findVersion = (schema: string) =>
    versions.find((each) => each.schema === schema) ?? versions.find((each) => !isAdmin(each));
  const findTable = ({ schema, query }: Asked): Table | undefined =>
    findVersion(schema)?.tables.find(({ name }) => name === query.table);
  const writeRequest = (asked: Asked) => {
    const table = findTable(asked);
    const query = normalizeQuery(asked.query, table);
    return { query, target: writeTarget(query, chooseTieBreakers(query, table)) };
  };

  const send = async (wanted: Asked, { history: entry, etag, isAside = false }: Sending = {}) => {
    const schema = findVersion(wanted.schema)?.schema ?? "";
    const { query, target } = writeRequest({ ...wanted, schema });
    const asked = { schema, query };
    if (!isAside) setForm(asked);
    const [problem] = findProblems(query);
    if (problem !== undefined) {
      document.getElementById(problem.field)?.focus();
      return;
    }
    const address = `#${schema}${writeTarget(query)}`;
    if (entry === "replace") history.replaceState(null, "", address);
    else if (entry === "push" && location.hash !== address) history.pushState(null, "", address);
    running.current?.abort();
    const sending = new AbortController();
    running.current = sending;
    setIsWaiting(true);
    const headers = {
      "accept-profile": schema,
      ...(isCounted ? { prefer: "count=exact" } : {}),
      ...(etag === undefined ? {} : { "if-match": etag }),
    };
    const sent = { asked, target, headers, key };
    try {
      const answer = await sendRequest(apiUrl + target, { headers, key, signal: sending.signal });
      setLatest(answer);
      setOutcome(readOutcome(sent, answer));
    } catch (error) {
      if (sending.signal.aborted) return;
      setOutcome({ ...sent, problem: error instanceof Error ? error.message : String(error) });
    }
    setIsWaiting(false);
  };

  const sendLatest = useRef(send);
  sendLatest.current = send;
  useEffect(() => {
    const follow = (isFirst: boolean) => {
      const asked = readAddress();
      if (asked !== undefined) void sendLatest.current(asked, isFirst ? { history: "replace" } : {});
      else if (!isFirst) {
        setForm(nothingAsked);
        setOutcome(undefined);
      }
    };
    follow(true);
    const onChange = () => location.pathname === "/explorer" && follow(false);
    addEventListener("hashchange", onChange);
    keepDocument(() => hasOwn.current);
    return () => removeEventListener("hashchange", onChange);
  }, []);

  const schema = findVersion(form.schema)?.schema ?? "";
  const isCurrent =
    outcome !== undefined &&
    schema === outcome.asked.schema &&
    key === outcome.key &&
    writeRequest(form).target === outcome.target;
  return {
    form: { ...form, schema },
    key,
    own,
    setOwn,
    isCounted,
    setIsCounted,
    outcome,
    latest,
    noteAnswer: setLatest,
    isWaiting,
    findTable,
    writeRequest,
    /** Whether the answer is that of the form as it stands. */
    isCurrent,
    change: (changed: Partial<Query>, changedSchema = schema) =>
      setForm({ schema: changedSchema, query: { ...form.query, offset: 0, ...changed } }),
    send,
    /** Another page of the answer that is shown, whatever the form says meanwhile. */
    turn: (offset: number) => {
      if (outcome === undefined) return;
      const { asked, answer } = outcome;
      const isFollowing = key === outcome.key && offset > 0;
      void send(
        { ...asked, query: { ...asked.query, offset } },
        { history: "replace", etag: isFollowing ? answer?.headers.etag : undefined, isAside: !isCurrent },
      );
    },
  };
}

export type Explorer = ReturnType<typeof useExplorer>;
