import { useEffect, useRef } from "preact/hooks";
import type { VersionDescription } from "../api-description.ts";
import type { ClientSettings } from "../client-settings.ts";
import { emptyQuery, largestLimit, type Query } from "../query.ts";
import { linkToExplorer, writeTarget } from "../write-target.ts";
import { type Asked, type Outcome, readAddress, readRows, writeRequest } from "./outcome.ts";
import { useApi } from "./use-api.ts";
import { useForm } from "./use-form.ts";
import { useOutcome } from "./use-outcome.ts";

/** The form, the key, the last response, and the functions that change them. */
export function useExplorer(settings: ClientSettings, versions: VersionDescription[]) {
  const start: Asked = { schema: versions[0]?.schema ?? "", query: emptyQuery, isRow: false };
  const api = useApi(settings);
  const { setForm, ...form } = useForm(versions, start);
  const { send, findSeen, show, ...response } = useOutcome(api);
  const { outcome } = response;
  const write = (asked: Asked) => writeRequest(versions, asked);

  useAddress(() => {
    const address = readAddress(location.hash);
    const written = write({ ...start, ...address, schema: address?.schema || start.schema });
    // The rows of a report are shown without the form, which keeps its values.
    if (!written.asked.isRow) setForm(written.asked);
    const known = findSeen(`/explorer${location.hash}`);
    if (address === undefined || known !== undefined) show(known);
    else void send(written, "replaceState");
  });

  const submit = () => {
    const written = write(form.form);
    setForm(written.asked);
    void send(written, "pushState");
  };

  /** Shows the awards of the reports that a query finds. The API would take too long to join and sort all awards. */
  const openAwards = async (reports: Query) => {
    if (outcome === undefined) return;
    const { schema } = outcome.asked;
    const target = writeTarget({ ...reports, select: ["report_id"], limit: largestLimit });
    const answer = await api.askApi(target, { headers: { "accept-profile": schema } });
    const { rows, total } = readRows(answer);
    if (rows === undefined) return show({ ...outcome, answer, rows, total });
    const value = rows.map((row) => String(row.report_id)).join("\n");
    location.assign(linkToExplorer(schema, listAwards(value)));
  };

  return {
    settings,
    versions,
    ...api,
    ...form,
    ...response,
    write,
    openAwards,
    submit,
    /** Sends the last request again, with the key that is entered now. */
    repeat: () => (outcome === undefined ? submit() : void send(write(outcome.asked), "replaceState")),
    /** Repeats the request with changes. The form keeps everything else that was typed. */
    refine: (changed: Partial<Query>) => {
      if (outcome === undefined) return;
      const { asked, answer } = outcome;
      form.change(changed);
      // All pages must come from one data set.
      const etag = changed.offset && api.key === outcome.key ? answer.headers.etag : undefined;
      void send(write({ ...asked, query: { ...asked.query, offset: 0, ...changed } }), "pushState", etag);
    },
  };
}

const listAwards = (reportIds: string): Query => ({
  ...emptyQuery,
  table: "federal_awards",
  filters: [{ column: "report_id", operator: "in", value: reportIds }],
  order: ["audit_year.desc.nullslast", "amount_expended.desc.nullslast"],
  limit: 500,
});

/** Calls a function at the start, and whenever the visitor follows a link in the explorer or goes back. */
function useAddress(follow: () => void): void {
  const latest = useRef(follow);
  latest.current = follow;
  useEffect(() => {
    latest.current();
    addEventListener("hashchange", () => latest.current());
  }, []);
}

export type Explorer = ReturnType<typeof useExplorer>;

/** The props that the components of a response share. */
export interface Shown {
  explorer: Explorer;
  outcome: Outcome;
}
