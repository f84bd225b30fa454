import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Column } from "../api-description.ts";

/** A list of terms that grows by a button below it and shrinks by one in each row. */
export function EditableRows<Term>({
  legend,
  noun,
  terms,
  columns,
  change,
  makeTerm,
  describeRow,
}: {
  legend: string;
  /** With its article, such as "a filter". */
  noun: `${"a" | "an"} ${string}`;
  terms: Term[];
  columns: Column[];
  change: (terms: Term[]) => void;
  makeTerm: () => Term;
  /** The fields of a row; the id of the first is such as `filter-0-column`. */
  describeRow: (term: Term, index: number, replace: (changed: Partial<Term>) => void) => VNode;
}): VNode {
  const add = useRef<HTMLButtonElement>(null);
  const name = noun.replace(/^an? /, "");
  const added = useRef<number | undefined>(undefined);
  // What was added is what one goes on with.
  useLayoutEffect(() => {
    if (added.current !== undefined) document.getElementById(`${name}-${added.current}-column`)?.focus();
    added.current = undefined;
  }, [terms.length]);
  const replace = (index: number, changed: Partial<Term>) =>
    change(terms.map((term, each) => (each === index ? { ...term, ...changed } : term)));
  return (
    <fieldset>
      <legend>{legend}</legend>
      <ul class="rows">
        {terms.map((term, index) => (
          <li class="row" key={index}>
            {describeRow(term, index, (changed) => replace(index, changed))}
            <button
              type="button"
              class="small plain"
              aria-label={`Remove ${name} ${index + 1}`}
              onClick={() => {
                change(terms.filter((_, each) => each !== index));
                add.current?.focus();
              }}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <button
        type="button"
        class="small plain"
        ref={add}
        disabled={columns.length === 0}
        onClick={() => {
          added.current = terms.length;
          change([...terms, makeTerm()]);
        }}
      >
        Add {noun}
      </button>
    </fieldset>
  );
}

/** A choice of names; one that is not among them came from a link, and stays for the API's answer to tell. */
export function NameSelect({
  id,
  label,
  names,
  value,
  change,
}: {
  id: string;
  label: string;
  names: string[];
  value: string;
  change: (name: string) => void;
}): VNode {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => change(event.currentTarget.value)}>
        {!names.includes(value) && <option value={value}>{value}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
