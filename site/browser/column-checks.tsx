import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Column } from "../api-description.ts";

/** Which columns a request asks for: none chosen means all. */
export function ColumnChecks({
  columns,
  chosen,
  change,
}: {
  columns: Column[];
  chosen: string[];
  change: (columns: string[]) => void;
}): VNode {
  const [part, setPart] = useState("");
  const [isOpen] = useState(chosen.length > 0);
  const known = columns.map(({ name }) => name);
  const toggle = (name: string, isChosen: boolean) => {
    const wanted = new Set(chosen);
    if (isChosen) wanted.add(name);
    else wanted.delete(name);
    // In the table's order; names that the table does not have come from a link, and stay for its answer to tell.
    change([
      ...known.filter((each) => wanted.has(each)),
      ...[...wanted].filter((each) => !known.includes(each)),
    ]);
  };
  const shown = columns.filter(({ name }) => name.includes(part.trim().toLowerCase().replaceAll(" ", "_")));
  return (
    <fieldset>
      <legend>Columns</legend>
      <details open={isOpen}>
        <summary>
          {chosen.length === 0 ? "All columns" : `${chosen.length} of ${columns.length} columns`}
        </summary>
        <div class="field">
          <label for="column-part">Find a column</label>
          <input
            id="column-part"
            type="search"
            autocomplete="off"
            value={part}
            onInput={(event) => setPart(event.currentTarget.value)}
          />
        </div>
        <div class="checks">
          {shown.map(({ name, description }) => (
            <label class="check" key={name} title={description}>
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={(event) => toggle(name, event.currentTarget.checked)}
              />
              <code>{name}</code>
            </label>
          ))}
          {shown.length === 0 && <span class="hint">No column has this in its name.</span>}
        </div>
        <button
          type="button"
          class="small plain"
          aria-disabled={chosen.length === 0}
          onClick={() => change([])}
        >
          All columns
        </button>
      </details>
    </fieldset>
  );
}
