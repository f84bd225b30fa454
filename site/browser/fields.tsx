import type { VNode } from "preact";

interface Labeled {
  id: string;
  label: string;
  value: string;
}

interface Typed extends Labeled {
  hint?: string;
  type?: "text" | "password" | "lines";
  /** Values to choose from, and their labels. */
  known?: string[][];
  change: (value: string) => void;
}

export function Text({ id, label, value, hint, type = "text", known = [], change }: Typed): VNode {
  const shared = { id, value, autocomplete: "off", "aria-describedby": hint && `${id}-hint` };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === "lines" ? (
        <textarea {...shared} onInput={(event) => change(event.currentTarget.value)} />
      ) : (
        <input
          {...shared}
          // Preact's types do not allow a list of choices for a password, which has none.
          type={type as "text"}
          list={known.length > 0 ? `${id}-known` : undefined}
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
      <datalist id={`${id}-known`}>
        {known.map(([each, text]) => (
          <option key={each} value={each} label={text} />
        ))}
      </datalist>
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

interface Choices extends Labeled {
  options: [value: string, text: string][];
  choose: (value: string) => void;
}

/** A list of choices. A value that is not in the list came from a link, and is kept, so that the API can refuse it. */
export function Choice({ id, label, options, value, choose }: Choices): VNode {
  const all = new Map([
    ...(options.some(([each]) => each === value) ? [] : [[value, value] as const]),
    ...options,
  ]);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {[...all].map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}
