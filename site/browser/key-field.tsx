import type { VNode } from "preact";
import { useId } from "preact/hooks";
import { Text } from "./fields.tsx";
import type { Explorer } from "./use-explorer.ts";

interface Field {
  explorer: Explorer;
  label?: string;
  button?: string;
}

/** The visitor's own key, and a button that sends the last request again with it. */
export function KeyField({
  explorer,
  label = "Your own API key (optional)",
  button = "Send again with this key",
}: Field): VNode {
  const { ownKey, setOwnKey, outcome, repeat } = explorer;
  return (
    <form
      class="key"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        repeat();
      }}
    >
      <Text
        id={useId()}
        label={label}
        hint="Without a key, requests use DEMO_KEY. Your key stays in this tab until you close it. Copied links and commands never contain it."
        type="password"
        value={ownKey}
        change={(typed) => setOwnKey(typed.trim())}
      />
      {outcome && (
        <button type="submit" class="plain">
          {button}
        </button>
      )}
    </form>
  );
}
