import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { type Language, languages, writeSnippet } from "../request-snippets.ts";
import { CopyButton, Scroll } from "./command.tsx";
import { Choice } from "./query-form.tsx";
import type { Explorer } from "./use-explorer.ts";

/** The form's request, or the shown row's request, as a program. */
export function Commands({ explorer }: { explorer: Explorer }): VNode {
  const [language, setLanguage] = useState<Language>("curl");
  const { outcome, form, ownKey, settings } = explorer;
  const { asked, target } = explorer.write(outcome?.asked.isRow ? outcome.asked : form);
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
    </section>
  );
}
