import { isAdmin, type ServedVersion } from "../client-settings.ts";
import { demonstrationKey } from "../request-snippets.ts";
import { type Description, readDescription } from "./read-description.ts";
import { type Answer, sendRequest } from "./send-request.ts";

const keepMilliseconds = 10 * 60_000;

export type DescriptionOutcome = { description: Description } | { answer: Answer };

/**
 * Asks the API for the description of a version. Those that everyone may see are kept for ten minutes in this tab, so
 * that looking around costs the demonstration key little.
 *
 * @param key the visitor's own; empty for the demonstration key
 * @throws Error when there is no answer at all
 */
export async function askDescription(
  apiUrl: string,
  version: ServedVersion,
  key: string,
): Promise<DescriptionOutcome> {
  const place = `description ${apiUrl} ${version.schema}`;
  const kept = isAdmin(version) ? undefined : readKept(place);
  if (kept !== undefined) return { description: readDescription(kept) };
  const headers = { "accept-profile": version.schema };
  const answer = await sendRequest(`${apiUrl}/`, headers, key === "" ? demonstrationKey : key);
  if (answer.status !== 200) return { answer };
  if (!isAdmin(version)) keep(place, answer.text);
  return { description: readDescription(answer.text) };
}

function readKept(place: string): string | undefined {
  try {
    const { at, text } = JSON.parse(sessionStorage.getItem(place) ?? "{}");
    return Date.now() - at < keepMilliseconds ? text : undefined;
  } catch {
    // Storage is switched off.
    return undefined;
  }
}

function keep(place: string, text: string): void {
  try {
    sessionStorage.setItem(place, JSON.stringify({ at: Date.now(), text }));
  } catch {
    // Full or switched off: the next page asks again.
  }
}
