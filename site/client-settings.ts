/** What the explorer's script has to know. The page carries it as JSON. */
export interface ClientSettings {
  /** The API as clients reach it, with no slash at the end. */
  apiUrl: string;
  /** Where the description of the served versions is: VersionDescription[]. */
  description: string;
  /** Whether whole tables are to be had as files. */
  hasPublicData: boolean;
}

/** Whether a version is for keys with Tribal access alone. */
export function isAdmin({ schema }: { schema: string }): boolean {
  return schema.startsWith("admin_");
}
