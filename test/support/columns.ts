import contract from "../../db/contracts/api_v1_1_0.json" with { type: "json" };

/** The published columns of each table, in order (db/contracts). */
export const columns: Record<string, { name: string; type: string }[]> = Object.fromEntries(
  Object.entries(contract.views).map(([table, view]) => [table, view.columns]),
);

export const columnNames = (table: string): string[] => (columns[table] ?? []).map(({ name }) => name);

export type Table = Exclude<keyof typeof contract.views, `totals_${string}` | "finding_summaries">;
/** The tables that are computed from the others. */
export const computedTables = Object.keys(columns).filter((table) => /^totals_|_summaries$/.test(table));
/** The tables that come from the source files. */
export const tables = Object.keys(columns).filter((table) => !computedTables.includes(table));
export const childTables = tables.filter((table) => table !== "general");
/** The tables that general can embed. */
export const embeddableTables = childTables.filter(
  (table) => `${table}(api_v1_1_0.general)` in contract.functions,
);
