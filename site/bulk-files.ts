/** A file of the live data set, as the manifest lists it. */
export interface BulkFile {
  name: string;
  table: string;
  audit_year: string | null;
  format: string;
  rows: number;
  bytes: number;
  sha256: string;
}

export interface Manifest {
  data_set: string;
  published_at: string;
  files: BulkFile[];
}

/** Reads the manifest of the live data set's files. Resolves to undefined if there are none. */
export type ReadManifest = () => Promise<{ manifest: Manifest } | undefined>;
