import type { ComponentChildren, VNode } from "preact";
import { type Answer, formatCount } from "./ask.ts";
import type { Explorer } from "./use-explorer.ts";

interface Refused {
  answer: Answer;
  explorer: Explorer;
  table: string;
}

/** An error from the API: what happened, why, and what to do next. */
export function Refusal({ answer, explorer, table }: Refused): VNode {
  const { status } = answer;
  const { message, details, hint } = readError(answer);
  const minutes = Math.ceil(Number(answer.headers["retry-after"]) / 60);
  const [happened] = message.split(" Wait ");
  const file = explorer.settings.hasPublicData && (
    <>
      , or <a href={`/public-data/${table}.csv.gz`}>download the whole table as a file</a>
    </>
  );
  const advice: Record<number, ComponentChildren> = {
    412: (
      <>
        A new data set was published after you read the first page, so the pages no longer match.{" "}
        <button type="button" class="link" onClick={() => explorer.refine({ offset: 0 })}>
          Start again from the first row
        </button>
      </>
    ),
    429: (
      <>
        Wait {minutes > 120 ? formatCount(Math.ceil(minutes / 60), "hour") : formatCount(minutes, "minute")},{" "}
        <a href="/#keys">get your own key</a> (free, with a higher limit){file}.
      </>
    ),
    500: <>Add a filter or choose fewer columns{file}.</>,
  };
  // The hint of a 429 is for programs.
  const texts = [
    details,
    status !== 429 && hint,
    advice[status],
    <a href="/#errors">What error codes mean</a>,
  ];
  return (
    <div class="notice notice--error" role="alert">
      <h3>{status === 0 ? message : `${status}: ${happened}`}</h3>
      {texts.map((text, index) => text && <p key={index}>{text}</p>)}
    </div>
  );
}

/** Reads the error in a response's body, in the format that PostgREST and the gateway share. */
function readError({ status, text }: Answer): { message: string; details?: string; hint?: string } {
  try {
    const body = JSON.parse(text);
    if (typeof body.message === "string") return body;
  } catch {
    // If it is not JSON, something between the browser and the API answered.
  }
  return { message: `The API answered ${status} without an explanation.` };
}
