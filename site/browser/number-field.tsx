import type { VNode } from "preact";
import { useState } from "preact/hooks";

/** A field for a whole number. What was typed stays as it is, also where it is none. */
export function NumberField({
  id,
  label,
  value,
  problem,
  change,
}: {
  id: string;
  label: string;
  /** NaN for what is no number. */
  value: number;
  problem: string | undefined;
  change: (value: number) => void;
}): VNode {
  const [text, setText] = useState(String(value));
  const read = (typed: string) =>
    /^\s*[\d,]+\s*$/.test(typed) ? Number(typed.replaceAll(",", "")) : Number.NaN;
  // A link, or a page that was turned, has changed it meanwhile.
  const shown = Object.is(read(text), value) ? text : String(value);
  return (
    <div class="field field--short">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        inputmode="numeric"
        autocomplete="off"
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
        value={shown}
        onInput={(event) => {
          setText(event.currentTarget.value);
          change(read(event.currentTarget.value));
        }}
      />
      {problem !== undefined && (
        <span class="problem" id={`${id}-problem`}>
          {problem}
        </span>
      )}
    </div>
  );
}
