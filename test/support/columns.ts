import contract from "../../db/contracts/api_v1_1_0.json" with { type: "json" };

/** The published columns of each table, in order (db/contracts). */
export const columns: Record<string, { name: string; type: string }[]> = Object.fromEntries(
  Object.entries(contract.views).map(([table, view]) => [table, view.columns]),
);

export type Table = keyof typeof contract.views;
export const tables = Object.keys(columns);
export const childTables = tables.filter((table) => table !== "general");

export const columnNames = (table: string): string[] => (columns[table] ?? []).map(({ name }) => name);
