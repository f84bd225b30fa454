import { composeAuditee, YEARS_PER_AUDITEE } from "./auditees.ts";
import { addDays, findMonthEnd, findPeriodStart } from "./dates.ts";
import type { Auditee, Filing, Resubmission } from "./model.ts";
import { findPin, findPinnedGroup, PINNED_COUNT } from "./pinned.ts";
import { DAYS_TO_ACCEPTANCE, LAST_YEARS, SUPERSEDED_COUNTS } from "./proportions.ts";
import { createRandom, invertQuantiles, type Random } from "./random.ts";

/** The day from which submissions were made to GSA; what the Census Bureau had before is migrated. */
const TRANSITION = "2023-10-01";

/** Submission `index` and those that it superseded, oldest first. */
export function composeFilings(seed: number, index: number): Filing[] {
  const random = createRandom(seed, "filing", index);
  const pin = findPin(index);
  const { auditee, group, year } = composeAuditee(seed, index);
  const auditYear = group < 0 ? 2023 : chooseLastYear(seed, group) - (YEARS_PER_AUDITEE - 1) + year;
  const period = choosePeriod(random, auditYear, auditee.fiscalYearEndMonth);
  const onTime = addDays(period.end, invertQuantiles(DAYS_TO_ACCEPTANCE, random.next()));
  const isNamed = group < 0 || pin !== undefined;
  const accepted = isNamed && onTime < TRANSITION ? addDays(TRANSITION, random.integer(3, 90)) : onTime;
  const isMigrated = accepted < TRANSITION;
  const isPublic = group < 0 || !choosesSuppression(random, auditee, year);
  const uei = isMigrated && auditYear < 2022 && random.chance(0.5) ? "GSA_MIGRATION" : auditee.uei;
  const drawn = random.weigh(SUPERSEDED_COUNTS);
  const history = pin?.history ?? (isMigrated ? 0 : drawn);
  const isUnknown = history === 0 && group >= 0 && !isMigrated && random.chance(0.01);

  const dates = [accepted];
  for (let i = 0; i < history; i += 1) dates.push(addDays(dates.at(-1) ?? accepted, random.integer(40, 200)));
  const source = isMigrated ? "CENSUS" : "GSAFAC";
  const arePublic =
    pin?.isPublic ??
    dates.map((_, i) => (i < history ? wasPublic(seed, index, i, auditee, isPublic) : isPublic));
  const ids = dates.map((_, i) => composeReportId(period.end, source, index, history - i));

  return dates.map((date, i) => ({
    seed,
    index,
    reportId: ids[i] ?? "",
    auditee,
    uei,
    auditYear,
    dates: { start: period.start, end: period.end, accepted: date },
    periodCovered: period.covered,
    numberMonths: period.numberMonths,
    isMigrated,
    isPublic: arePublic[i] ?? false,
    superseded: history - i,
    resubmission: history > 0 || isUnknown ? describeResubmission(ids, i, accepted, isUnknown) : null,
  }));
}

/** "YYYY-MM-SOURCE-NNNNNNNNNN". Current submission 0 has the number 2; superseded ones have numbers of their own. */
function composeReportId(end: string, source: string, index: number, superseded: number): string {
  const number =
    index < PINNED_COUNT
      ? superseded === 0
        ? index + 2
        : 2 * (index + PINNED_COUNT) - superseded
      : 4 * index + 3 - superseded;
  return `${end.slice(0, 7)}-${source}-${String(number).padStart(10, "0")}`;
}

function describeResubmission(ids: string[], i: number, original: string, isUnknown: boolean): Resubmission {
  return {
    version: isUnknown ? 0 : i + 1,
    status: isUnknown
      ? "unknown_resubmission_status"
      : i === ids.length - 1
        ? "most_recent"
        : "deprecated_via_resubmission",
    previousReportId: ids[i - 1] ?? null,
    nextReportId: ids[i + 1] ?? null,
    originalSubmissionDate: original,
  };
}

function chooseLastYear(seed: number, group: number): number {
  const random = createRandom(seed, "last year", group);
  return findPinnedGroup(group)?.lastYear ?? random.weigh(LAST_YEARS);
}

/** Most tribal auditees suppress, one year at least; hardly anyone else may or does. */
function choosesSuppression(random: Random, auditee: Auditee, year: number): boolean {
  const drawn = random.next();
  return auditee.entityType === "tribal" ? year === 0 || drawn < 0.55 : drawn < 0.0003;
}

/** Whether an earlier submission was public: a Tribe decides anew with each. */
function wasPublic(seed: number, index: number, i: number, auditee: Auditee, isPublic: boolean): boolean {
  if (auditee.entityType !== "tribal") return isPublic;
  return createRandom(seed, "earlier suppression", index, i).chance(0.5);
}

function choosePeriod(random: Random, year: number, endMonth: number) {
  const covered = random.weigh([
    ["annual", 0.988],
    ["biennial", 0.004],
    ["other", 0.008],
  ] as const);
  const months = { annual: 12, biennial: 24, other: random.pick([6, 9, 15, 18]) }[covered];
  return {
    covered,
    numberMonths: covered === "other" ? String(months) : "",
    start: findPeriodStart(year, endMonth, months),
    end: findMonthEnd(year, endMonth),
  };
}
