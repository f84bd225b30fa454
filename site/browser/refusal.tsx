import type { ComponentChildren, VNode } from "preact";
import type { ClientSettings } from "../client-settings.ts";
import { describeRetry } from "./limits.ts";
import { type Answer, readError } from "./send-request.ts";

/** An error of the API: what happened, what to do about it, and where to go. */
export function Refusal({
  answer,
  settings,
  table,
  children,
}: {
  answer: Answer;
  settings: ClientSettings;
  /** Which table was asked for. */
  table: string;
  /** What can be done right here. */
  children?: ComponentChildren;
}): VNode {
  const { message, details, hint } = readError(answer);
  return (
    <div class="notice notice--error">
      <h3>
        {answer.status}: {message}
      </h3>
      {details && <p>{details}</p>}
      {hint && <p>{hint}</p>}
      <Advice answer={answer} settings={settings} table={table} />
      {children && <p>{children}</p>}
      <p>
        <a href="/#errors">What the errors mean</a>
      </p>
    </div>
  );
}

function Advice({
  answer,
  settings,
  table,
}: {
  answer: Answer;
  settings: ClientSettings;
  table: string;
}): VNode | null {
  const file = settings.hasPublicData && (
    <a href={`/public-data/${table}.csv.gz`}>
      all public rows of <code>{table}</code> as a file
    </a>
  );
  const wait = answer.headers["retry-after"];
  switch (answer.status) {
    case 401:
      return (
        <p>
          Check the key above, or choose the demonstration key. <a href="/#keys">How to get a key</a>
        </p>
      );
    case 412:
      return (
        <p>A new data set was published since the first page: pages of two data sets do not fit together.</p>
      );
    case 429:
      return (
        <p>
          {describeRetry(answer)} <a href="/#keys">A key of your own</a> has a higher limit and costs nothing
          {file && <>; {file} need no key</>}.
        </p>
      );
    case 500:
      return (
        <p>
          Ask for less at a time: add a filter, take fewer rows or leave the order out
          {file && <>; or take {file}</>}.
        </p>
      );
    case 503:
      return (
        <p>
          A part of the service is away. Send the request again
          {wait === undefined ? " in half a minute" : ` in ${wait} seconds`}: nothing is wrong with it.
        </p>
      );
    default:
      return null;
  }
}
