import contract from "../../db/contracts/api_v1_1_0.json" with { type: "json" };

/** The published columns of each table, in order (db/contracts). */
export const columns: Record<string, { name: string; type: string }[]> = Object.fromEntries(
  Object.entries(contract.views).map(([table, view]) => [table, view.columns]),
);

export const columnNames = (table: string): string[] => (columns[table] ?? []).map(({ name }) => name);

export type Table = Exclude<keyof typeof contract.views, `totals_${string}`>;
/** What is served of the source files: rows of reports. */
export const tables = Object.keys(columns).filter((table) => columnNames(table).includes("report_id"));
export const childTables = tables.filter((table) => table !== "general");
/** What is computed of them. */
export const totals = Object.keys(columns).filter((table) => !tables.includes(table));
