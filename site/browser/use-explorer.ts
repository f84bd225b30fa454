import { useEffect, useRef } from "preact/hooks";
import type { VersionDescription } from "../api-description.ts";
import type { ClientSettings } from "../client-settings.ts";
import { emptyQuery, type Query } from "../query.ts";
import { type Asked, type Outcome, readAddress, writeRequest } from "./outcome.ts";
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
    // A report is shown without the form, which keeps its values.
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

  return {
    settings,
    versions,
    ...api,
    ...form,
    ...response,
    write,
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
