import { completeAwards } from "./award-totals.ts";
import { chooseCluster, chooseProgram } from "./choose-program.ts";
import type { Award, EntityType, Filing } from "./model.ts";
import { findPin } from "./pinned.ts";
import { findProgram, type Program, RESEARCH, STUDENT_AID } from "./programs.ts";
import { at, createRandom, invertQuantiles, type Quantiles, type Random } from "./random.ts";

// Awards a report over all kinds of auditees: median 6, 95th percentile about 51, the longest 16,292.
const COUNTS: Quantiles = [
  [0, 1],
  [0.12, 2],
  [0.5, 6],
  [0.75, 13],
  [0.9, 26],
  [0.95, 45],
  [0.99, 140],
  [0.999, 420],
  [0.9999, 1_400],
  [1, 16_293],
];

// Kinds that have more awards than others are nearer to the largest: what is left of the distance.
const DISTANCES: Readonly<Record<EntityType, number>> = {
  local: 1,
  "non-profit": 1,
  unknown: 1,
  tribal: 0.6,
  "higher-ed": 0.6,
  state: 0.36,
};

// Dollars: p10 4,000, median 131,000, p90 5,000,000, p99 197,000,000.
const AMOUNTS: Quantiles = [
  [0, 50],
  [0.1, 4_000],
  [0.2, 14_000],
  [0.3, 35_000],
  [0.4, 70_000],
  [0.5, 131_000],
  [0.6, 290_000],
  [0.7, 700_000],
  [0.8, 1_700_000],
  [0.9, 5_000_000],
  [0.95, 20_000_000],
  [0.99, 197_000_000],
  [0.999, 900_000_000],
  [1, 4_000_000_000],
];

/** The awards of a submission, with their totals; findings are counted later. */
export function composeAwards(filing: Filing): Award[] {
  const random = createRandom(filing.seed, filing.index, "awards");
  const pin = findPin(filing.index);
  const count = pin?.awardCount ?? countAwards(random, filing);
  const digits = filing.dates.accepted >= "2024-07-01" ? 5 : 4;
  const awards: Award[] = [];
  for (let i = 0; i < count; i += 1) {
    const pinned = pin?.awards?.[i];
    const program = pinned
      ? findProgram(pinned[0])
      : chooseProgram(random, filing.auditee.entityType, count, i);
    const award = composeAward(random, filing, program, count);
    award.award_reference = `AWARD-${String(i + 1).padStart(digits, "0")}`;
    if (pinned)
      Object.assign(award, { is_direct: pinned[1], amount_expended: Math.abs(award.amount_expended) });
    awards.push(award);
  }
  // What a later submission put right.
  const first = at(awards, 0);
  if (filing.superseded > 0)
    first.amount_expended -= Math.trunc((first.amount_expended * filing.superseded) / 20);
  return completeAwards(random, awards);
}

function countAwards(random: Random, { auditee }: Filing): number {
  const u = 1 - (1 - auditee.size) * DISTANCES[auditee.entityType];
  const count = invertQuantiles(COUNTS, u);
  return Math.max(1, Math.floor(count * (0.85 + 0.3 * random.next())));
}

function composeAward(random: Random, filing: Filing, program: Program, count: number): Award {
  const isStudentAid = program.cluster === STUDENT_AID;
  const isDirect = isStudentAid || random.chance(program.cluster === RESEARCH ? 0.6 : 0.4);
  const isLoan = program.extension === "268" ? program.prefix === "84" : random.chance(0.01);
  const isNegative = random.chance(0.035);
  // A report with few awards has few large ones.
  const u = random.next();
  const amount = invertQuantiles(AMOUNTS, count < 20 && u > 0.9 ? u - 0.35 : u);
  const passesDown = !isNegative && random.chance(0.12);
  const cluster = chooseCluster(random, filing, program.cluster);
  const covid = random.chance(0.05);
  return {
    award_reference: "",
    federal_agency_prefix: program.prefix,
    federal_award_extension: program.extension,
    additional_award_identification: covid
      ? "COVID-19"
      : random.weigh<string | null>([
          [null, 55],
          ["", 35],
          [composeAwardNumber(random), 10],
        ]),
    federal_program_name:
      covid && !program.name.startsWith("COVID") ? `COVID-19 - ${program.name}` : program.name,
    amount_expended: isNegative ? -random.integer(100, 250_000) : amount,
    cluster_name: cluster.name,
    other_cluster_name: cluster.other,
    state_cluster_name: cluster.state,
    cluster_total: 0,
    federal_program_total: 0,
    is_major: "N",
    is_loan: isLoan ? "Y" : "N",
    loan_balance: isLoan
      ? random.weigh([
          [String(random.integer(1_000, 90_000_000)), 6],
          ["N/A", 2],
          ["", 2],
        ])
      : "",
    is_direct: isDirect ? "Y" : "N",
    audit_report_type: "",
    findings_count: 0,
    is_passthrough_award: passesDown ? "Y" : "N",
    passthrough_amount: passesDown ? Math.floor((amount * random.integer(5, 95)) / 100) : null,
  };
}

function composeAwardNumber(random: Random): string {
  return random.pick(["NA", "H79SM", "R01AI", "G-22-", "S010A", "ARP 20"]) + random.digits(6);
}
