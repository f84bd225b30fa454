import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Embed } from "../query.ts";

/** Related tables whose rows come with each row. */
export function EmbedRows({
  related,
  embeds,
  change,
}: {
  /** The tables that may be chosen. */
  related: string[];
  embeds: Embed[];
  change: (embeds: Embed[]) => void;
}): VNode | null {
  const [isOpen] = useState(embeds.length > 0);
  const names = [...new Set([...related, ...embeds.map(({ table }) => table)])];
  if (names.length === 0) return null;
  return (
    <fieldset>
      <legend>Together with</legend>
      <details open={isOpen}>
        <summary>
          {embeds.length === 0
            ? "Nothing of other tables"
            : `Rows of ${embeds.map(({ table }) => table).join(", ")}`}
        </summary>
        <div class="checks">
          {names.map((name) => (
            <label class="check" key={name}>
              <input
                type="checkbox"
                checked={embeds.some(({ table }) => table === name)}
                onChange={(event) =>
                  change(
                    event.currentTarget.checked
                      ? [...embeds, { table: name, columns: [] }]
                      : embeds.filter(({ table }) => table !== name),
                  )
                }
              />
              <code>{name}</code>
            </label>
          ))}
        </div>
        {embeds.map((embed) => (
          <div class="field" key={embed.table}>
            <label for={`embed-${embed.table}`}>
              Columns of <code>{embed.table}</code>, by comma; none for all
            </label>
            <input
              id={`embed-${embed.table}`}
              type="text"
              autocomplete="off"
              spellcheck={false}
              value={embed.columns.join(",")}
              onChange={(event) => {
                const columns = event.currentTarget.value.split(/[\s,]+/).filter(Boolean);
                change(embeds.map((each) => (each === embed ? { ...embed, columns } : each)));
              }}
            />
          </div>
        ))}
      </details>
    </fieldset>
  );
}
