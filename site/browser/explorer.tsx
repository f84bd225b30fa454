import { render, type VNode } from "preact";
import type { VersionDescription } from "../api-description.ts";
import { type ClientSettings, isAdmin } from "../client-settings.ts";
import { AnswerPart } from "./answer.tsx";
import { Commands } from "./commands.tsx";
import { KeyField } from "./key-field.tsx";
import { needsKey } from "./outcome.ts";
import { QueryForm } from "./query-form.tsx";
import { useExplorer } from "./use-explorer.ts";

function ExplorerPage({ start }: { start: Parameters<typeof useExplorer> }): VNode {
  const explorer = useExplorer(...start);
  const { outcome, isWaiting } = explorer;
  const isRow = outcome?.asked.isRow ?? false;
  // An answer that needs a key has the field itself.
  const asksForKey = outcome !== undefined && needsKey(outcome) && !isWaiting;
  return (
    <>
      {!asksForKey && (
        <div class="wrap">
          <KeyField explorer={explorer} />
        </div>
      )}
      {!isRow && (
        <div class="wrap explorer">
          <QueryForm explorer={explorer} />
          <Commands explorer={explorer} />
        </div>
      )}
      <AnswerPart key="answer" explorer={explorer} />
      <div class="wrap">{isRow && <Commands explorer={explorer} />}</div>
    </>
  );
}

const root = document.getElementById("explorer");
if (root !== null) {
  try {
    const settings: ClientSettings = JSON.parse(root.dataset.settings ?? "{}");
    const versions: VersionDescription[] = await (await fetch(settings.description)).json();
    const served = versions.filter((version) => !isAdmin(version));
    // Preact keeps elements that it did not make.
    root.replaceChildren();
    render(<ExplorerPage start={[settings, served]} />, root);
  } catch {
    root.replaceChildren();
    render(
      <div class="wrap">
        <p class="notice notice--error" role="alert">
          The list of tables could not be loaded. Reload the page in a minute.
        </p>
      </div>,
      root,
    );
  }
}
