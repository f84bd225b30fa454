import { z } from "zod";
import { formatNumber } from "./format.ts";
import { type Content, html } from "./html.ts";

/** A UEI or EIN that is similar to an unknown one, and the auditee's name. */
export interface SimilarId {
  similar_id: string;
  auditee_name: string | null;
}
/** UEIs, EINs and report IDs that no public report has, and for each the IDs that are similar to it. */
export type UnknownIds = Map<string, SimilarId[]>;

/** The result of publication.suggest_ids(). */
export const unknownIds = z
  .array(z.object({ id: z.string(), similar_id: z.string().nullable(), auditee_name: z.string().nullable() }))
  .transform((rows): UnknownIds => {
    const unknown: UnknownIds = new Map();
    for (const { id, similar_id, auditee_name } of rows) {
      const similar = unknown.get(id) ?? [];
      unknown.set(id, similar_id === null ? similar : [...similar, { similar_id, auditee_name }]);
    }
    return unknown;
  });

/** Whether publication.suggest_ids() compares a text with known IDs: a UEI or EIN, or one with a character too many or too few. */
export const isComparable = (id: string): boolean => /^([A-Z0-9]{11,13}|\d{8,10})$/.test(id);

/** How many UEIs and EINs of a list publication.suggest_ids() compares with known ones, and how many unknown IDs pages name. */
export const mostSuggestedFor = 20;

/** "ABCDEFGH1234 (Polk County) or ABCDEFGH1235 (Mesa)" */
export const describeSimilar = (similar: SimilarId[]): string =>
  similar.map((each) => `${each.similar_id}${describeName(each)}`).join(" or ");

/** The same with links. */
export const linkSimilar = (similar: SimilarId[]): Content =>
  similar.map(
    (each, index) =>
      html`${index > 0 && " or "}<a href="/auditee/${each.similar_id}"><code class="id">${each.similar_id}</code></a>${describeName(each)}`,
  );

/** The same as a question, for a page on which nothing was found. */
export const writeSimilar = (similar: SimilarId[]): Content =>
  similar.length > 0 && html`<p>Did you mean ${linkSimilar(similar)}?</p>`;

const describeName = ({ auditee_name: name }: SimilarId): string => (name ? ` (${name})` : "");

/** "No public report has this ID: ABCDEFGH1243 (did you mean ABCDEFGH1234 (Polk County)?)." With `write`, suggestions are not links. */
export function listUnknown(
  unknown: UnknownIds,
  write: (similar: SimilarId[]) => Content = linkSimilar,
): Content {
  const named = [...unknown]
    .slice(0, mostSuggestedFor)
    .map(
      ([id, similar], index) =>
        html`${index > 0 && ", "}${id}${similar.length > 0 && html` (did you mean ${write(similar)}?)`}`,
    );
  const more = unknown.size - named.length;
  return (
    unknown.size > 0 &&
    html`No public report has ${unknown.size === 1 ? "this ID" : `these ${formatNumber(unknown.size)} IDs`}: ${named}${more > 0 && `, and ${formatNumber(more)} more`}.`
  );
}

/** Says on a page which IDs no public report has. It does not tell the IDs of suppressed reports from mistyped ones. */
export const writeUnknown = (unknown: UnknownIds): Content =>
  unknown.size > 0 &&
  html`<p class="notice">${listUnknown(unknown)} Check for typos. Suppressed and replaced reports cannot be found, and old reports have no UEI.</p>`;
