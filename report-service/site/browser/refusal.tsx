import type { VNode } from "preact";
import { type Answer, describeRetry, readError } from "./send-request.ts";

/** An error of the API, with what it says about it. */
export function Refusal({ answer, summary }: { answer: Answer; summary?: string }): VNode {
  const { message, details, hint } = readError(answer);
  return (
    <div class="notice notice--error">
      {summary && <p>{summary}</p>}
      <p>
        <strong>
          {answer.status}: {message}
        </strong>
      </p>
      {details && <p>{details}</p>}
      {hint && <p>Hint: {hint}</p>}
      {answer.status === 429 && <p>{describeRetry(answer)} A key of your own has a higher limit.</p>}
      <p>
        <a href="/#errors">What the errors mean</a>
      </p>
    </div>
  );
}
