import type { ClientSettings } from "../client-settings.ts";

/** The element that a page leaves to its script, and what it says the script has to know. */
export function readSettings(id: string): { root: HTMLElement; settings: ClientSettings } {
  const root = document.getElementById(id);
  if (root === null) throw new Error(`The page has no element #${id}.`);
  return { root, settings: JSON.parse(root.dataset.settings ?? "{}") };
}
