import type { VersionDescription } from "../api-description.ts";
import type { ClientSettings } from "../client-settings.ts";

/** The element that the page leaves to the explorer, what it says, and the served versions, from the app. */
export async function readSettings(): Promise<
  { root: HTMLElement; settings: ClientSettings; versions: VersionDescription[] } | undefined
> {
  const root = document.getElementById("explorer");
  if (root === null) return undefined;
  const settings: ClientSettings = JSON.parse(root.dataset.settings ?? "{}");
  const answer = await fetch(settings.description);
  if (!answer.ok)
    throw new Error(`The tables are not known now: ${answer.status}. Load this page again in a minute.`);
  return { root, settings, versions: await answer.json() };
}
