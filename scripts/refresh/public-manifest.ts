/** A bulk file: public rows of a table, or of one audit year of it. */
interface PublicFile {
  name: string;
  table: string;
  audit_year: string | null;
  format: "csv" | "parquet";
  rows: number;
  bytes: number;
  sha256: string;
}

/** A file with the reports that differ between two data sets, of which one replaced the other. */
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

/** The content of `manifest.json`. */
export interface Manifest {
  data_set: string;
  /** When it became live. Null until then. */
  published_at: string | null;
  files: PublicFile[];
  /** For each table its name, texts and JSON Table Schema. */
  tables: object[];
  /** The last publications and rollbacks, the newest last. */
  changes: ChangeFile[];
}

export function formatManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
