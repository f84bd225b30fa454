import type { ComponentChildren, VNode } from "preact";
import { type Answer, formatCount } from "./ask.ts";
import { KeyField } from "./key-field.tsx";
import type { Explorer } from "./use-explorer.ts";

interface Refused {
  answer: Answer;
  explorer: Explorer;
  table: string;
}

/** An error from the API: what happened, why, and what to do next. */
export function Refusal({ answer, explorer, table }: Refused): VNode {
  const { status } = answer;
  const error = readError(answer);
  const known = describeValue(error);
  const happened = known ?? error.message.split(/ (?:Wait|Send) /)[0];
  // The texts of some errors are for programs.
  const explanation = status === 401 || status === 429 || known ? [] : [error.details, error.hint];
  const texts = [
    ...explanation,
    adviceFor({ answer, explorer, table }),
    <a href="/#errors">What error codes mean</a>,
  ];
  return (
    <div class="notice notice--error" role="alert">
      <h3>{status === 0 ? error.message : `${status}: ${happened}`}</h3>
      {texts.map((text, index) => text && <p key={index}>{text}</p>)}
      {(status === 401 || status === 429) && answer === explorer.outcome?.answer && (
        <KeyField explorer={explorer} label="API key for the next request" />
      )}
    </div>
  );
}

/** What to change in the form, or when to try again. */
function adviceFor({ answer, explorer, table }: Refused): ComponentChildren {
  const file = explorer.settings.hasPublicData && (
    <>
      , or <a href={`/public-data/${table}.csv.gz`}>download the whole table as a file</a>
    </>
  );
  const again = (
    <button type="button" class="link" onClick={() => explorer.refine({ offset: 0 })}>
      Start again from the first row
    </button>
  );
  const minutes = Math.ceil(Number(answer.headers["retry-after"]) / 60);
  const wait = minutes > 120 ? formatCount(Math.ceil(minutes / 60), "hour") : formatCount(minutes, "minute");
  const advice: Record<number, ComponentChildren> = {
    400: "Change the filters, the columns or the other parameters in the form.",
    401: "Correct the key, or empty the field to use DEMO_KEY.",
    404: "Check the report ID and the table in the form.",
    406: "Choose another table in the form. The link may be for a version that is no longer served.",
    412: (
      <>A new data set was published after you read the first page, so the pages no longer match. {again}</>
    ),
    413: <>Add a filter or choose fewer columns{file}.</>,
    429: (
      <>
        Wait {wait}, <a href="/#keys">get your own key</a> (free, with a higher limit){file}.
      </>
    ),
    500: <>Add a filter or choose fewer columns{file}.</>,
    503: "Try again in a minute.",
  };
  return advice[answer.status];
}

const kinds: Record<string, string> = {
  bigint: "a whole number",
  integer: "a whole number",
  smallint: "a whole number",
  numeric: "a number",
  date: "a date such as 2023-06-30",
  boolean: "true or false",
};

/** Explains a value that its column cannot have. */
function describeValue({ message }: ApiError): string | undefined {
  const [, type = "", value = ""] = /^invalid input syntax for type (\w+): "(.*)"$/s.exec(message) ?? [];
  return kinds[type] === undefined ? undefined : `“${value}” is not ${kinds[type]}.`;
}

interface ApiError {
  message: string;
  details?: string;
  hint?: string;
}

/** Reads the error in a response's body, in the format that PostgREST and the gateway share. */
function readError({ status, text }: Answer): ApiError {
  try {
    const body = JSON.parse(text);
    if (typeof body.message === "string") return body;
  } catch {
    // If it is not JSON, something between the browser and the API answered.
  }
  return { message: `The API answered ${status} without an explanation.` };
}
