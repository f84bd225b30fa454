import { quote } from "zx";
import type { Migration } from "./read-files.ts";

const graceMilliseconds = 24 * 60 * 60 * 1000;

/**
 * Finds migrations whose names do not begin with their date. Migrations run in the order of their names, so one that is
 * dated in the future would keep later ones from being deployed.
 *
 * @returns a line for each, with a name to give it
 */
export function checkMigrationNames(migrations: Migration[], now = new Date()): string[] {
  return migrations.flatMap(({ id, name }) => {
    const problem = findProblem(id, now);
    const words = id
      .toLowerCase()
      .replaceAll(/^\d+|[^a-z0-9]+/g, " ")
      .trim()
      .replaceAll(" ", "_");
    const next = `db/migrations/${formatDate(now)}_${words || "migration"}.sql`;
    return problem === undefined ? [] : [`${name}: ${problem}. Rename it: git mv ${quote(name)} ${next}`];
  });
}

function findProblem(id: string, now: Date): string | undefined {
  const [, digits = ""] = /^(\d{17})_[a-z0-9_]+$/.exec(id) ?? [];
  const date = readDate(digits);
  if (date === undefined)
    return "its name should be the time (UTC, 17 digits, YYYYMMDDhhmmss and three more), then _verb_noun";
  if (date.getTime() > now.getTime() + graceMilliseconds) return "its date is in the future";
  return undefined;
}

/** Reads YYYYMMDDhhmmss and milliseconds. Returns undefined if there is no such time. */
function readDate(digits: string): Date | undefined {
  const date = new Date(digits.replace(/^(....)(..)(..)(..)(..)(..)(...)$/, "$1-$2-$3T$4:$5:$6.$7Z"));
  return Number.isNaN(date.getTime()) || formatDate(date) !== digits ? undefined : date;
}

const formatDate = (date: Date) => date.toISOString().replaceAll(/\D/g, "");
