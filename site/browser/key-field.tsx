import type { VNode } from "preact";
import { demonstrationKey } from "../request-snippets.ts";

/** The choice between the demonstration key and one's own, which stays in the memory of this document. */
export function KeyField({
  own,
  change,
}: {
  own: { isUsed: boolean; key: string };
  change: (own: { isUsed: boolean; key: string }) => void;
}): VNode {
  return (
    <fieldset>
      <legend>Key</legend>
      <div class="row">
        <label class="check">
          <input
            type="radio"
            name="key"
            checked={!own.isUsed}
            onChange={() => change({ ...own, isUsed: false })}
          />
          <span>
            Demonstration (<code>{demonstrationKey}</code>)
          </span>
        </label>
        <label class="check">
          <input
            type="radio"
            name="key"
            checked={own.isUsed}
            onChange={() => change({ ...own, isUsed: true })}
          />
          Your own
        </label>
      </div>
      {own.isUsed && (
        <div class="field">
          <label for="own-key">Your key</label>
          <input
            id="own-key"
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={own.key}
            onInput={(event) => change({ ...own, key: event.currentTarget.value.trim() })}
            aria-describedby="own-key-hint"
          />
          <span class="hint" id="own-key-hint">
            It is kept in this tab’s memory alone, and forgotten when you leave these pages or reload one.
            Copied commands have <code>API_KEY</code> in its place.
          </span>
        </div>
      )}
    </fieldset>
  );
}
