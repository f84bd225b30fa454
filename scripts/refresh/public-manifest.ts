import type { TableDescription } from "./describe-tables.ts";

/** A bulk file: public rows of a table, or of one audit year of it. */
export interface PublicFile {
  name: string;
  table: string;
  audit_year: string | null;
  format: "csv" | "parquet";
  rows: number;
  bytes: number;
  sha256: string;
}

/** A file of the reports that differ between two data sets that were live one after the other. */
export interface ChangeFile {
  name: string;
  from: string;
  to: string;
  published_at: string;
  added: number;
  changed: number;
  removed: number;
  bytes: number;
  sha256: string;
}

/** What `manifest.json` holds. */
export interface Manifest {
  data_set: string;
  /** When it became live; null until then. */
  published_at: string | null;
  files: PublicFile[];
  tables: TableDescription[];
  /** The last publications and rollbacks, the newest last. */
  changes: ChangeFile[];
}

export function formatManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
