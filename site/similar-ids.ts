import { z } from "zod";
import { type Content, html } from "./html.ts";

/** The result of publication.suggest_ids(). */
export const similarIds = z.array(
  z.object({
    /** The UEI or EIN that no public report has. */
    id: z.string(),
    /** One that is spelled like it, and the auditee's name. */
    similar_id: z.string(),
    auditee_name: z.string().nullable(),
  }),
);
export type SimilarId = z.infer<typeof similarIds>[number];

/** How many UEIs and EINs of a list publication.suggest_ids() reads. */
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
