/** Settings of the explorer's script, which the page contains as JSON. */
export interface ClientSettings {
  /** The API as clients reach it, with no slash at the end. */
  apiUrl: string;
  /** The URL of the description of the served versions: VersionDescription[]. */
  description: string;
  /** Whether bulk files are served. */
  hasPublicData: boolean;
}

/** Whether a version is only for keys with Tribal access. */
export function isAdmin({ schema }: { schema: string }): boolean {
  return schema.startsWith("admin_");
}
