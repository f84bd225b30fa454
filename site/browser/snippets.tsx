import type { VNode } from "preact";
import { type ApiRequest, type Language, languages, writeSnippet } from "../request-snippets.ts";
import { Scroll } from "../scroll.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Tabs } from "./tabs.tsx";

/** A request as a program, in the language that the visitor chooses. */
export function Snippets({
  id,
  request,
  language,
  choose,
}: {
  id: string;
  request: ApiRequest;
  language: Language;
  choose: (language: Language) => void;
}): VNode {
  const text = writeSnippet(language, request);
  return (
    <Tabs id={id} label="Language" tabs={languages} current={language} choose={choose}>
      <div class="command">
        <Scroll label={`Request in ${languages[language]}`} kind="code wrapped">
          <pre>
            <code>{text}</code>
          </pre>
        </Scroll>
        <CopyButton text={text} label={`Copy the request in ${languages[language]}`} />
      </div>
    </Tabs>
  );
}
