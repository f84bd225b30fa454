import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ClientSettings } from "../client-settings.ts";
import { Refusal } from "./refusal.tsx";
import { type Answer, sendRequest } from "./send-request.ts";

/** How long a token lives, as request_file_access says. */
const lifeMilliseconds = 60_000;

type State =
  | { name: "idle" | "asking" }
  | { name: "open"; uuid: string; until: number }
  | { name: "refused"; answer: Answer }
  | { name: "unreachable"; message: string };

/** A button that asks for a one-time link to a report's PDF, with a Tribal key, and opens it. */
export function FileAccess({
  apiUrl,
  schema,
  reportId,
  accessKey,
  settings,
}: {
  apiUrl: string;
  /** The admin version's. */
  schema: string;
  reportId: string;
  accessKey: string;
  settings: ClientSettings;
}): VNode {
  const [state, setState] = useState<State>({ name: "idle" });
  useEffect(() => setState({ name: "idle" }), [reportId, accessKey]);
  const ask = async () => {
    setState({ name: "asking" });
    try {
      const answer = await sendRequest(`${apiUrl}/rpc/request_file_access`, {
        method: "POST",
        headers: { "content-profile": schema, "content-type": "application/json" },
        key: accessKey,
        body: JSON.stringify({ report_id: reportId }),
      });
      const uuid =
        answer.status === 200 ? /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(answer.text) : null;
      setState(
        uuid === null
          ? { name: "refused", answer }
          : { name: "open", uuid: uuid[0], until: Date.now() + lifeMilliseconds },
      );
    } catch (error) {
      setState({ name: "unreachable", message: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <div class="access">
      <button
        type="button"
        aria-disabled={state.name === "asking"}
        onClick={() => state.name !== "asking" && void ask()}
      >
        Get the PDF with your key
      </button>
      <div aria-live="polite">
        {state.name === "unreachable" && <p class="notice notice--error">{state.message}</p>}
        {state.name === "refused" && <Refusal answer={state.answer} settings={settings} table="general" />}
        {state.name === "open" && <OneTimeLink key={state.uuid} uuid={state.uuid} until={state.until} />}
      </div>
    </div>
  );
}

/** Opens the link in another tab, so that this page and the key in it stay. */
function OneTimeLink({ uuid, until }: { uuid: string; until: number }): VNode {
  const link = useRef<HTMLAnchorElement>(null);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    link.current?.click();
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((until - now) / 1000));
  if (seconds === 0) return <p>The one-time link has ended. The button gets another.</p>;
  return (
    <p>
      The PDF opens in a new tab, or is saved. If your browser held it back:{" "}
      <a ref={link} href={`/dissemination/report/pdf/ota/${uuid}`} target="_blank" rel="noopener noreferrer">
        open the PDF
      </a>
      . The link works once, for another{" "}
      <span role="timer" aria-live="off">
        {seconds} {seconds === 1 ? "second" : "seconds"}
      </span>
      .
    </p>
  );
}
