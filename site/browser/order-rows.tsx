import type { VNode } from "preact";
import type { Column } from "../api-description.ts";
import { type Direction, directions, type Order } from "../query.ts";
import { EditableRows, NameSelect } from "./editable-rows.tsx";

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
  return (
    <EditableRows<Order>
      legend="Order"
      noun="an order"
      terms={order}
      columns={columns}
      change={change}
      makeTerm={() => ({ column: columns[0]?.name ?? "", direction: "asc" })}
      describeRow={({ column, direction }, index, replace) => (
        <>
          <NameSelect
            id={`order-${index}-column`}
            label={`Order by ${index + 1}`}
            names={columns.map(({ name }) => name)}
            value={column}
            change={(name) => replace({ column: name })}
          />
          <div class="field">
            <label for={`order-${index}-direction`}>Direction {index + 1}</label>
            <select
              id={`order-${index}-direction`}
              value={direction}
              onChange={(event) => replace({ direction: event.currentTarget.value as Direction })}
            >
              {(Object.keys(directions) as Direction[]).map((each) => (
                <option key={each} value={each}>
                  {directions[each]} ({each})
                </option>
              ))}
            </select>
          </div>
        </>
      )}
    />
  );
}
