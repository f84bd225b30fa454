import type { Client } from "pg";

/** Reports of a data set that is being built, by why they are suppressed. */
export interface Suppression {
  /** Its files do not call them public. */
  suppressed: string[];
  /** Its files call them public, and an earlier data set suppressed them. */
  kept: string[];
}

const shownReports = 20;

/** Reads from the staging tables which reports are suppressed. */
export async function readSuppression(client: Client): Promise<Suppression> {
  const { rows } = await client.query<Suppression>(
    `select
       array(select report_id from staging.reports where not is_public
             except select report_id from staging.kept_suppressed) as suppressed,
       array(select report_id from staging.kept_suppressed order by report_id) as kept`,
  );
  return rows[0] ?? { suppressed: [], kept: [] };
}

/** Remembers, in the transaction that publishes, that these reports were suppressed. */
export async function rememberSuppressed(client: Client, reports: string[]): Promise<void> {
  await client.query(
    "insert into publication.suppressed_reports (report_id) select unnest($1::text[]) on conflict do nothing",
    [reports],
  );
}

/** Lets a report be public again, and records who did it. Fails if it was not suppressed. */
export async function releaseReport(client: Client, report: string): Promise<void> {
  await client.query("select publication.release_report($1)", [report]);
}

/** The reports that a generation would make public again, although they were suppressed after it was published. */
export async function findSuppressedSince(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ report_id: string }>(
    `select report_id from publication.suppressed_reports
     where report_id in (
       select report_id from disclosed_previous.general
       union select unnest(array[report_id, previous_report_id, next_report_id]) from disclosed_previous.resubmission
     )
     order by report_id`,
  );
  return rows.map(({ report_id }) => report_id);
}

export function describeKept(reports: string[]): string {
  const count = reports.length === 1 ? "1 report stays" : `${reports.length} reports stay`;
  return (
    `${count} suppressed, as in an earlier data set: ${listReports(reports)}. ` +
    "These files call the reports public. To make one public, run npm run refresh -- --release REPORT_ID and refresh again."
  );
}

/** Names the first reports, and counts the others. */
export function listReports(reports: string[]): string {
  const more = reports.length - shownReports;
  return `${reports.slice(0, shownReports).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
