import { useEffect, useRef, useState } from "preact/hooks";
import type { VersionDescription } from "../api-description.ts";
import type { ClientSettings } from "../client-settings.ts";
import { normalizeQuery } from "../normalize-query.ts";
import { emptyQuery, largestLimit, moveQuery, type Query } from "../query.ts";
import { demonstrationKey } from "../request-snippets.ts";
import { addAuditee, chooseTieBreakers } from "../table-facts.ts";
import { linkToExplorer, writeTarget } from "../write-target.ts";
import { type Answer, ask } from "./ask.ts";
import { type Asked, type Outcome, readAddress, readRows } from "./outcome.ts";
import { embedParts } from "./row-parts.ts";
import { keepTabKey, readTabKey } from "./tab-key.ts";

/** The form, the key, the last response, and the functions that change them. */
export function useExplorer(settings: ClientSettings, versions: VersionDescription[]) {
  const start: Asked = { schema: versions[0]?.schema ?? "", query: emptyQuery, isRow: false };
  const [form, setForm] = useState(start);
  const [ownKey, setOwnKey] = useState(readTabKey);
  const [dropped, setDropped] = useState("");
  const [outcome, setOutcome] = useState<Outcome>();
  const [isWaiting, setIsWaiting] = useState(false);
  const [lastAnswer, setLastAnswer] = useState<Answer>();
  const running = useRef(new AbortController());
  /** Responses by URL and key, so that going back sends no request. */
  const seen = useRef(new Map<string, Outcome>());
  const key = ownKey === "" ? demonstrationKey : ownKey;

  const askApi = async (target: string, options: RequestInit & { key?: string }) => {
    const answer = await ask(settings.apiUrl + target, { key, ...options });
    if (answer.status !== 0) setLastAnswer(answer);
    return answer;
  };

  const findTable = (schema: string, name: string) =>
    versions.find((version) => version.schema === schema)?.tables.find((table) => table.name === name);

  /** Returns the normalized query and the request that is sent for it. */
  const write = ({ schema, query: typed, isRow }: Asked) => {
    const table = findTable(schema, typed.table);
    const query = normalizeQuery(typed, table);
    const sent = isRow ? embedParts(query, table) : addAuditee(query, table);
    const target = writeTarget(sent, chooseTieBreakers(isRow ? query : sent, table));
    return { asked: { schema, query, isRow }, table, target };
  };

  const send = async (wanted: Asked, enter: "pushState" | "replaceState", etag?: string) => {
    const { asked, table, target } = write(wanted);
    const address = linkToExplorer(asked.schema, asked.query, asked.isRow);
    history[address === `/explorer${location.hash}` ? "replaceState" : enter](null, "", address);
    running.current.abort();
    running.current = new AbortController();
    const { signal } = running.current;
    setIsWaiting(true);
    const headers = {
      "accept-profile": asked.schema,
      // The count is exact up to the limit of one response. Beyond that, counting would cost more than the rows.
      prefer: "count=estimated",
      ...(etag && { "if-match": etag }),
    };
    const answer = await askApi(target, { headers, signal });
    if (signal.aborted) return;
    const found = { asked, table, target, key, answer, ...readRows(answer) };
    if (found.rows !== undefined) seen.current.set(address + key, found);
    setOutcome(found);
    setIsWaiting(false);
  };

  /** Shows the awards of the reports that a query finds. The API would take too long to join and sort all awards. */
  const openAwards = async (reports: Query) => {
    if (outcome === undefined) return;
    const { schema } = outcome.asked;
    const target = writeTarget({ ...reports, select: ["report_id"], limit: largestLimit });
    const answer = await askApi(target, { headers: { "accept-profile": schema } });
    const { rows, total } = readRows(answer);
    if (rows === undefined) return setOutcome({ ...outcome, answer, rows, total });
    const value = rows.map((row) => String(row.report_id)).join("\n");
    const awards: Query = {
      ...emptyQuery,
      table: "federal_awards",
      filters: [{ column: "report_id", operator: "in", value }],
      order: ["audit_year.desc.nullslast", "amount_expended.desc.nullslast"],
      limit: 500,
    };
    location.assign(linkToExplorer(schema, awards));
  };

  const follow = () => {
    const address = readAddress(location.hash);
    const { asked } = write({ ...start, ...address, schema: address?.schema || start.schema });
    // The rows of a report are shown without the form, which keeps its values.
    if (!asked.isRow) setForm(asked);
    const known = seen.current.get(`/explorer${location.hash}${key}`);
    if (address !== undefined && known === undefined) return void send(asked, "replaceState");
    running.current.abort();
    setIsWaiting(false);
    setOutcome(known);
  };
  const latest = useRef({ follow });
  latest.current = { follow };
  useEffect(() => {
    latest.current.follow();
    addEventListener("hashchange", () => latest.current.follow());
  }, []);

  const submit = () => {
    setDropped("");
    setForm(write(form).asked);
    void send(form, "pushState");
  };

  return {
    settings,
    versions,
    form,
    ownKey,
    setOwnKey: (key: string) => {
      keepTabKey(key);
      setOwnKey(key);
    },
    outcome,
    isWaiting,
    /** The API's last response, whose headers say how many requests are left. */
    lastAnswer,
    askApi,
    write,
    change: (changed: Partial<Query>) =>
      setForm({ ...form, query: { ...form.query, offset: 0, ...changed } }),
    /** Chooses another table. Keeps the filters and columns that the other table has, too. */
    changeTable: (table: string) => {
      const { query, lost } = moveQuery(form.query, findTable(form.schema, table), table);
      setForm({ ...form, query });
      setDropped(
        lost.length === 0 ? "" : `This table has no column ${lost.join(", ")}, so the filter was removed.`,
      );
    },
    /** Says which filters the last choice of a table has removed. */
    dropped,
    openAwards,
    submit,
    /** Sends the last request again, with the key that is entered now. */
    repeat: () => (outcome === undefined ? submit() : void send(outcome.asked, "replaceState")),
    /** Repeats the request with changes. The form keeps everything else that was typed. */
    refine: (changed: Partial<Query>) => {
      if (outcome === undefined) return;
      const { asked, answer } = outcome;
      setForm({ ...form, query: { ...form.query, ...changed } });
      // All pages must come from one data set.
      const etag = changed.offset && key === outcome.key ? answer.headers.etag : undefined;
      void send({ ...asked, query: { ...asked.query, offset: 0, ...changed } }, "pushState", etag);
    },
  };
}

export type Explorer = ReturnType<typeof useExplorer>;

/** The props that the components of a response share. */
export interface Shown {
  explorer: Explorer;
  outcome: Outcome;
}
