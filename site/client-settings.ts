/** Settings of the explorer's script, which the page contains as JSON. */
export interface ClientSettings {
  /** The API as clients reach it, with no slash at the end. */
  apiUrl: string;
  /** Where the description of the served versions is: VersionDescription[]. */
  description: string;
  /** Whether whole tables are served as files. */
  hasPublicData: boolean;
}

/** Whether a version is only for keys with Tribal access. */
export function isAdmin({ schema }: { schema: string }): boolean {
  return schema.startsWith("admin_");
}
