import type { Client } from "pg";

/** The suppressed reports of the source files, by reason. */
export interface Suppression {
  /** A row of the source files does not mark them as public. */
  suppressed: string[];
  /** The source files mark them as public, but an earlier data set suppressed them. */
  kept: string[];
}

const shownReports = 20;

/** Reads from the staging tables which reports are suppressed. */
export async function readSuppression(client: Client): Promise<Suppression> {
  const { rows } = await client.query<Suppression>(
    `select
       array(select report_id from staging.marked_suppressed) as suppressed,
       array(select report_id from staging.kept_suppressed order by report_id) as kept`,
  );
  return rows[0] ?? { suppressed: [], kept: [] };
}

const previousDataSet = `
  select id, source from publication.data_sets
  where state = 'previous' and to_regnamespace('disclosed_previous') is not null`;

/** Selects the suppressed reports that a schema of disclosed rows shows. */
const selectSuppressed = (disclosed: string) => `
  select report_id from publication.suppressed_reports
  where report_id in (
    select report_id from ${disclosed}.general
    union select unnest(array[report_id, previous_report_id, next_report_id]) from ${disclosed}.resubmission
  )`;

/** Whether the live data set shows a report that was suppressed since: it was restored, or a later publication failed. */
export const showsSuppressed = `exists (${selectSuppressed("disclosed")})`;

const suppressedSince = `
  select array(${selectSuppressed("disclosed_previous")} order by report_id) as suppressed`;

/** Finds the previous data set, and its public reports that were suppressed since, with which it cannot be made live again. */
export async function findPrevious(
  client: Client,
): Promise<{ id: string; source: string; suppressed: string[] } | undefined> {
  const [previous] = (await client.query(previousDataSet)).rows;
  return previous && { ...previous, ...(await client.query(suppressedSince)).rows[0] };
}

export function describeKeptSuppressed(reports: string[]): string {
  const [kept, was] =
    reports.length === 1
      ? ["1 report stays suppressed, although the source files mark it", "It was"]
      : [`${reports.length} reports stay suppressed, although the source files mark them`, "They were"];
  return (
    `${kept} as public: ${listReports(reports)}. ${was} suppressed in an earlier data set. ` +
    "To make a report public, run npm run refresh -- --release REPORT_ID and refresh again."
  );
}

/** Names the first reports, and counts the others. */
export function listReports(reports: string[]): string {
  const more = reports.length - shownReports;
  return `${reports.slice(0, shownReports).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
