const pattern = /^[0-9]{4}-[0-9]{2}-(GSAFAC|CENSUS)-[0-9]{10}$/;

/** Whether this is how a report ID is written, such as 2023-06-GSAFAC-0000000001. */
export function isReportId(text: string): boolean {
  return pattern.test(text);
}

/** The Content-Disposition under which a report's PDF is downloaded. */
export function describeDownload(reportId: string): string {
  return `attachment; filename="${reportId}.pdf"`;
}
