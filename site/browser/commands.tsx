import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { describeRequest } from "../example-request.ts";
import { type Language, languages, writeSnippet } from "../request-snippets.ts";
import { CopyButton, Scroll } from "./command.tsx";
import type { Explorer } from "./use-explorer.ts";

/** The request of the form, or of the row that is shown, as a program. */
export function Commands({ explorer }: { explorer: Explorer }): VNode {
  const [language, setLanguage] = useState<Language>("curl");
  const { outcome, form, ownKey, settings } = explorer;
  const { asked, target } = explorer.write(outcome?.asked.isRow ? outcome.asked : form);
  const version = { apiUrl: settings.apiUrl, schema: asked.schema };
  const request = describeRequest(version, target, ownKey === "" ? "demonstration" : "own");
  const label = `Request in ${languages[language]}`;
  return (
    <section aria-labelledby="commands">
      <h2 id="commands">The same request as a command</h2>
      <fieldset class="row">
        <legend class="visually-hidden">Language</legend>
        {(Object.keys(languages) as Language[]).map((each) => (
          <label class="check" key={each}>
            <input
              type="radio"
              name="language"
              checked={each === language}
              onChange={() => setLanguage(each)}
            />
            {languages[each]}
          </label>
        ))}
      </fieldset>
      <div class="command">
        <Scroll label={label} kind="code wrapped">
          <pre>
            <code>{writeSnippet(language, request)}</code>
          </pre>
        </Scroll>
        <CopyButton label={`Copy: ${label}`} />
      </div>
    </section>
  );
}
