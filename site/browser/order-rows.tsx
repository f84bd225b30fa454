import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import type { Order } from "../query.ts";
import type { Column } from "./read-description.ts";

/** What the rows are sorted by, first things first. */
export function OrderRows({
  columns,
  order,
  change,
}: {
  columns: Column[];
  order: Order[];
  change: (order: Order[]) => void;
}): VNode {
  const add = useRef<HTMLButtonElement>(null);
  const replace = (index: number, changed: Partial<Order>) =>
    change(order.map((term, each) => (each === index ? { ...term, ...changed } : term)));
  return (
    <fieldset>
      <legend>Order</legend>
      <ul class="rows">
        {order.map(({ column, direction }, index) => (
          <li class="row" key={index}>
            <div class="field">
              <label for={`order-${index}-column`}>Order by {index + 1}</label>
              <select
                id={`order-${index}-column`}
                value={column}
                onChange={(event) => replace(index, { column: event.currentTarget.value })}
              >
                {!columns.some(({ name }) => name === column) && <option value={column}>{column}</option>}
                {columns.map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </div>
            <div class="field">
              <label for={`order-${index}-direction`}>Direction {index + 1}</label>
              <select
                id={`order-${index}-direction`}
                value={direction}
                onChange={(event) =>
                  replace(index, { direction: event.currentTarget.value === "desc" ? "desc" : "asc" })
                }
              >
                <option value="asc">ascending</option>
                <option value="desc">descending</option>
              </select>
            </div>
            <button
              type="button"
              class="small plain"
              aria-label={`Remove order ${index + 1}`}
              onClick={() => {
                change(order.filter((_, each) => each !== index));
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
        onClick={() => change([...order, { column: columns[0]?.name ?? "", direction: "asc" }])}
      >
        Add an order
      </button>
    </fieldset>
  );
}
