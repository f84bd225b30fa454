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
  const latest = formatDate(new Date(now.getTime() + graceMilliseconds));
  return migrations.flatMap(({ id, name }) => {
    const isNamed = /^\d{17}_[a-z0-9_]+$/.test(id);
    if (isNamed && id <= latest) return [];
    const problem = isNamed
      ? "its date is in the future"
      : "its name should be the time (UTC, 17 digits, YYYYMMDDhhmmss and three more), then _verb_noun";
    const words = id
      .toLowerCase()
      .replaceAll(/^\d+|[^a-z0-9]+/g, " ")
      .trim()
      .replaceAll(" ", "_");
    const next = `db/migrations/${formatDate(now)}_${words || "migration"}.sql`;
    return [`${name}: ${problem}. Rename it: git mv ${quote(name)} ${next}`];
  });
}

const formatDate = (date: Date) => date.toISOString().replaceAll(/\D/g, "");
