import type { Client } from "pg";

/** Decides whether the service answers requests; if not, each gets 503 with a message that says so. */
export async function switchRequests(client: Client, isOpen: boolean): Promise<void> {
  await client.query(
    "update publication.settings set is_open = $1, changed_at = now(), changed_by = session_user",
    [isOpen],
  );
}

/** A preview answers nothing until someone has switched it on. */
export async function closeUnlessDecided(client: Client): Promise<void> {
  await client.query("update publication.settings set is_open = false where changed_at is null");
}
