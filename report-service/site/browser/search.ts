import type { Table } from "./read-description.ts";

/**
 * The tables and columns that have all of the words in their names, types or descriptions. A table whose own name or
 * title has them comes with all its columns.
 */
export function search(tables: Table[], text: string): Table[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hasAll = (...texts: string[]) => {
    const haystack = texts.join(" ").toLowerCase();
    return words.every((word) => haystack.includes(word));
  };
  return tables.flatMap((table) => {
    if (hasAll(table.name, table.title)) return [table];
    const columns = table.columns.filter(({ name, type, description }) =>
      hasAll(table.name, name, type, description),
    );
    return columns.length === 0 ? [] : [{ ...table, columns }];
  });
}
