import type { VNode } from "preact";
import { demonstrationKey } from "../request-snippets.ts";
import { KeyField } from "./key-field.tsx";
import type { Shown } from "./use-explorer.ts";

/** Says that reports are suppressed, with a field for a key that shows them. */
export function SuppressedNotice({ explorer, outcome: { asked, key } }: Shown): VNode {
  return (
    <div class="notice">
      <p>
        {asked.isRow
          ? "This report is suppressed: normally the auditee, an Indian tribe or tribal organization, opted not to make it public"
          : "These reports are suppressed: normally the auditees, Indian tribes or tribal organizations, opted not to make them public"}{" "}
        (2 CFR 200.512(b)(2)). <a href="/#tribal">A key with Tribal access</a> shows{" "}
        {asked.isRow ? "it" : "them"}.
      </p>
      {key !== demonstrationKey && (
        <p role="alert">The key that you entered has no Tribal access. Enter another key.</p>
      )}
      <KeyField
        explorer={explorer}
        label="A key with Tribal access"
        button={asked.isRow ? "Show the report" : "Show the reports"}
      />
    </div>
  );
}
