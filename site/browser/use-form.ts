import { useState } from "preact/hooks";
import type { VersionDescription } from "../api-description.ts";
import { moveQuery } from "../normalize-query.ts";
import type { Query } from "../query.ts";
import { findColumn } from "../table-facts.ts";
import { type Asked, findTable } from "./outcome.ts";

/** What the form says, and the functions that change it. */
export function useForm(versions: VersionDescription[], start: Asked) {
  const [form, setForm] = useState(start);
  const [dropped, setDropped] = useState("");
  const setQuery = (query: Query) => setForm({ ...form, query });
  return {
    form,
    /** Shows another request. */
    setForm: (shown: Asked) => {
      setDropped("");
      setForm(shown);
    },
    /** Changes parts of the query. Its rows are shown from the first one. */
    change: (changed: Partial<Query>) => setQuery({ ...form.query, offset: 0, ...changed }),
    /** Chooses another table. Keeps the filters and columns that the other table has, too. */
    changeTable: (name: string) => {
      const before = findTable(versions, form.schema, form.query.table);
      const { query, lost } = moveQuery(form.query, findTable(versions, form.schema, name), name);
      setQuery(query);
      const labels = lost.map((column) => findColumn(before, column)?.label ?? column).join(", ");
      setDropped(labels && `This table has no column “${labels}”, so the filter was removed.`);
    },
    /** Says which filters the last choice of a table has removed. */
    dropped,
  };
}
