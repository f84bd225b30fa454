import type { EntityType, Filing } from "./model.ts";
import {
  findProgram,
  listPrograms,
  NO_CLUSTER,
  OTHER_CLUSTER,
  type Program,
  RESEARCH,
  STATE_CLUSTER,
} from "./programs.ts";
import { AGENCY_WEIGHTS, RESEARCH_WEIGHTS } from "./proportions.ts";
import { at, type Random } from "./random.ts";
import { nameState } from "./vocabulary.ts";

const FIRST_OF_A_COLLEGE = ["84.063", "84.268", "84.033", "84.007"] as const;

/** The program of award `i` of `count`. Colleges begin with student aid; most awards of large ones are research. */
export function chooseProgram(random: Random, entityType: EntityType, count: number, i: number): Program {
  if (entityType === "higher-ed") {
    if (i < FIRST_OF_A_COLLEGE.length) return findProgram(at(FIRST_OF_A_COLLEGE, i));
    if (count > 25 && random.chance(0.75)) return chooseResearch(random);
  }
  const program = random.pick(listPrograms(random.weigh(AGENCY_WEIGHTS)));
  return random.chance(0.006)
    ? { ...program, extension: `U${random.digits(2)}`, cluster: NO_CLUSTER }
    : program;
}

function chooseResearch(random: Random): Program {
  const program = random.pick(listPrograms(random.weigh(RESEARCH_WEIGHTS)));
  const extension = random.weigh([
    [program.extension, 83],
    ["RD", 15],
    [`U${random.digits(2)}`, 2],
  ]);
  return { ...program, extension, cluster: RESEARCH };
}

/** The cluster as a submission names it: a few name a state's, one of their own, or nothing that was migrated. */
export function chooseCluster(random: Random, { auditee, isMigrated }: Filing, name: string) {
  if (isMigrated && random.chance(0.01)) return { name: "GSA_MIGRATION", other: "GSA_MIGRATION", state: "" };
  if (name === NO_CLUSTER && random.chance(0.01)) {
    const state = nameState(auditee.state).toUpperCase();
    return { name: STATE_CLUSTER, other: "", state: `${state} BLOCK GRANT CLUSTER` };
  }
  if (name !== NO_CLUSTER && random.chance(0.02)) {
    return { name: OTHER_CLUSTER, other: name.replace(" CLUSTER", ""), state: "" };
  }
  return { name, other: "", state: "" };
}
