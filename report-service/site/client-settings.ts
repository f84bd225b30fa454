/** What the scripts of a page have to know. The page carries it as JSON. */
export interface ClientSettings {
  /** The API as clients reach it, with no slash at the end. */
  apiUrl: string;
  /** Who gives keys: mailto: or https:. */
  contact?: string | undefined;
  /** The served versions, the oldest (the default) first; none while the database is away. */
  versions: ServedVersion[];
}

export interface ServedVersion {
  /** As in accept-profile. */
  schema: string;
  /** From when its answers announce its end, and until when it is served at least: ISO 8601. */
  deprecatedAt?: string | undefined;
  sunsetAt?: string | undefined;
  /** Page that says why, and how to move on. */
  link?: string | undefined;
}

/** Whether a version is for keys with Tribal access alone. */
export function isAdmin({ schema }: ServedVersion): boolean {
  return schema.startsWith("admin_");
}
