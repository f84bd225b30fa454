import { z } from "zod";
import { formatNumber } from "./format.ts";
import { type Content, type Html, html } from "./html.ts";
import {
  describeSimilar,
  listUnknown,
  mostSuggestedFor,
  type UnknownIds,
  writeUnknown,
} from "./similar-ids.ts";

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

/** The IDs of a list that no public report has, and the reports that replaced some of them. */
export interface MissingIds {
  unknown: UnknownIds;
  replaced: Successor[];
}
export const noneMissing: MissingIds = { unknown: new Map(), replaced: [] };

function listReplaced(replaced: Successor[], write: (successor: Successor) => Content): Content {
  const more = replaced.length - mostSuggestedFor;
  return html`${replaced.slice(0, mostSuggestedFor).map((each) => html`${write(each)} `)}${more > 0 && `${formatNumber(more)} more were replaced. `}`;
}

const listNotReplaced = ({ unknown, replaced }: MissingIds): UnknownIds => {
  const ids = new Set(replaced.map(({ report_id: id }) => id));
  return new Map([...unknown].filter(([id]) => !ids.has(id)));
};

/**
 * Says on a page which IDs of a list have no public report, and links to the reports that replaced some of them.
 *
 * @param link returns the address of the page with another list
 */
export function writeMissing(ids: string[], missing: MissingIds, link: (u: string) => string): Content {
  const { replaced } = missing;
  const successorOf = new Map(replaced.map((each) => [each.report_id, each.successor_id]));
  const newest = [...new Set(ids.map((id) => successorOf.get(id) ?? id))].join();
  return [
    replaced.length > 0 &&
      html`<p class="notice">${listReplaced(replaced, writeReplaced)}<a href="${link(newest)}">Search with the newest ${replaced.length === 1 ? "report" : "reports"}</a>.</p>`,
    writeUnknown(listNotReplaced(missing)),
  ];
}

/** The same as text. */
export const listMissing = (missing: MissingIds): Content =>
  html`${listReplaced(missing.replaced, (each) => `The report ${each.report_id} was ${describeSuccessor(each)}.`)}${listUnknown(listNotReplaced(missing), describeSimilar)}`;
