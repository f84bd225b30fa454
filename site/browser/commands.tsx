import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { largestLimit } from "../query.ts";
import { demonstrationKey, type Language, languages, writeSnippet } from "../request-snippets.ts";
import { CopyButton, Scroll } from "./command.tsx";
import { Choice } from "./fields.tsx";
import type { Explorer } from "./use-explorer.ts";

/** The form's request, or the shown row's request, as a program. */
export function Commands({ explorer }: { explorer: Explorer }): VNode {
  const [language, setLanguage] = useState<Language>("curl");
  const { outcome, form, ownKey, settings } = explorer;
  const { asked, target, targetOfAll } = explorer.write(outcome?.asked.isRow ? outcome.asked : form);
  const snippet = writeSnippet(language, {
    url: settings.apiUrl + target,
    headers: { "accept-profile": asked.schema },
    key: ownKey === "" ? "demonstration" : "own",
  });
  const label = `Request in ${languages[language]}`;
  return (
    <section aria-labelledby="commands">
      <h2 id="commands">The same request as a command</h2>
      <Choice
        id="language"
        label="Language"
        options={Object.entries(languages)}
        value={language}
        choose={(each) => setLanguage(each as Language)}
      />
      <div class="command">
        <Scroll label={label} kind="code wrapped">
          <pre>
            <code>{snippet}</code>
          </pre>
        </Scroll>
        <CopyButton label={`Copy: ${label}`} />
      </div>
      <SpreadsheetAddress url={settings.apiUrl + targetOfAll} ownKey={ownKey} />
    </section>
  );
}

/** The rows as CSV, for programs that read a table from an address and cannot send a header. */
function SpreadsheetAddress({ url, ownKey }: { url: string; ownKey: string }): VNode {
  const write = (key: string) => `${url}&format=csv&api_key=${key}`;
  const label = "Address for a spreadsheet";
  return (
    <details>
      <summary>{label}</summary>
      <p>
        IMPORTDATA, Power Query and Stata read all rows as CSV from this address, up to{" "}
        {largestLimit.toLocaleString("en-US")}. Spreadsheets turn codes such as 048 into 48; the button “CSV
        for spreadsheets” above the rows saves a file that keeps them.
      </p>
      <div class="command">
        <Scroll label={label} kind="code wrapped">
          <pre>
            <code>{write(ownKey === "" ? demonstrationKey : "YOUR_KEY")}</code>
          </pre>
        </Scroll>
        <CopyButton label={`Copy: ${label}`} />
      </div>
      {ownKey !== "" && (
        <p>
          Anyone who sees the spreadsheet can read your key in the address, so do not share it.{" "}
          <CopyButton label="Copy with your key" name="Copy with your key" text={write(ownKey)} />
        </p>
      )}
    </details>
  );
}
