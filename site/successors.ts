import { z } from "zod";
import { type Html, html } from "./html.ts";

/** The result of publication.list_successors(). */
export const successors = z.array(
  z.object({
    report_id: z.string(),
    /** The public report that replaced it, and when that was accepted. */
    successor_id: z.string(),
    fac_accepted_date: z.string().nullable(),
  }),
);
export type Successor = z.infer<typeof successors>[number];

const describeAccepted = ({ fac_accepted_date: date }: Successor): string =>
  `accepted ${date ?? "on a date that is not stated"}`;

/** "replaced by 2023-06-GSAFAC-0000000002, accepted 2024-01-31" */
export const describeSuccessor = (successor: Successor): string =>
  `replaced by ${successor.successor_id}, ${describeAccepted(successor)}`;

/** The same with a link. */
export const linkSuccessor = (successor: Successor): Html =>
  html`replaced by <a href="/record/${successor.successor_id}">${successor.successor_id}</a>, ${describeAccepted(successor)}`;

/** "The report 2023-06-GSAFAC-0000000001 was replaced by …", with a link. */
export const writeReplaced = (successor: Successor): Html =>
  html`The report <code class="id">${successor.report_id}</code> was ${linkSuccessor(successor)}.`;
