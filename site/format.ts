import { timeZone } from "../shared/timetable.ts";

const number = new Intl.NumberFormat("en-US");
const day = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" });
// Canada writes dates as ISO 8601 does.
const isoDay = new Intl.DateTimeFormat("en-CA", { timeZone });
const time = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeStyle: "short", timeZone });

/** Begins a text with a capital letter. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const formatNumber = (value: number): string => number.format(value);
export const formatMoney = (dollars: number): string =>
  `${dollars < 0 ? "-" : ""}$${number.format(Math.abs(dollars))}`;
/** An audit year, for a list: "2023", "year not stated". */
export const nameYear = (year: unknown): string => String(year || "year not stated");
/** The date of a time in UTC, such as 2026-01-31. */
export const writeUtcDate = (date: Date): string => date.toISOString().slice(0, 10);
/** The date of a time in the Eastern time zone, such as 2026-01-31. */
export const writeEasternDate = (date: Date): string => isoDay.format(date);
/** A date some months later, or earlier. */
export function addMonths(date: string, months: number): string {
  const moved = new Date(date);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  return writeUtcDate(moved);
}
/** A date without a time, such as 2026-01-31, in words. */
export const formatDay = (date: string): string => day.format(new Date(date));
export const formatTime = (date: Date): string => `${time.format(date)} Eastern`;

export function formatSize(bytes: number): string {
  const [size, unit] =
    bytes < 1e6 ? [bytes / 1e3, "KB"] : bytes < 1e9 ? [bytes / 1e6, "MB"] : [bytes / 1e9, "GB"];
  return `${size.toFixed(1)} ${unit}`;
}
