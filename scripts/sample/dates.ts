const DAY = 86_400_000;

/** The date (YYYY-MM-DD) so many days after another. */
export function addDays(date: string, days: number): string {
  return toDate(Date.parse(`${date}T00:00:00Z`) + days * DAY);
}

/** The last day of a month, 1 to 12. */
export function findMonthEnd(year: number, month: number): string {
  return toDate(Date.UTC(year, month, 0));
}

/** The first day of a period of so many months that ends on a month's last day. */
export function findPeriodStart(year: number, endMonth: number, months: number): string {
  return toDate(Date.UTC(year, endMonth - months, 1));
}

function toDate(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
