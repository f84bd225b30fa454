import { z } from "zod";
import { readData } from "./read-data.ts";

/** A federal program: agency prefix, extension, name, the cluster it belongs to. */
export type Program = { prefix: string; extension: string; name: string; cluster: string };

export const RESEARCH = "RESEARCH AND DEVELOPMENT";
export const STUDENT_AID = "STUDENT FINANCIAL ASSISTANCE";
export const OTHER_CLUSTER = "OTHER CLUSTER NOT LISTED ABOVE";
export const STATE_CLUSTER = "STATE CLUSTER";
export const NO_CLUSTER = "N/A";

/** How often an agency's programs appear, by prefix. */
export const AGENCY_WEIGHTS: readonly (readonly [string, number])[] = [
  ["93", 30],
  ["84", 22],
  ["10", 11],
  ["14", 7],
  ["21", 5],
  ["20", 4],
  ["16", 3],
  ["97", 3],
  ["17", 3],
  ["15", 1.8],
  ["12", 1.6],
  ["66", 1.5],
  ["47", 1.5],
  ["11", 1],
  ["81", 0.9],
  ["94", 0.9],
  ["45", 0.6],
  ["43", 0.5],
  ["19", 0.4],
  ["98", 0.4],
  ["64", 0.3],
  ["32", 0.3],
  ["59", 0.3],
];

/** Agencies that pay for research, by prefix. */
export const RESEARCH_WEIGHTS: readonly (readonly [string, number])[] = [
  ["93", 50],
  ["47", 20],
  ["12", 8],
  ["84", 6],
  ["81", 5],
  ["10", 5],
  ["43", 3],
  ["11", 2],
  ["66", 1],
];

const rows = z.array(
  z.object({ agency: z.string(), extension: z.string(), name: z.string(), cluster: z.string() }),
);

const BY_PREFIX = new Map<string, Program[]>();
for (const { agency: prefix, extension, name, cluster } of readData("programs.csv", rows)) {
  const program = { prefix, extension, name, cluster: cluster || NO_CLUSTER };
  BY_PREFIX.set(prefix, [...(BY_PREFIX.get(prefix) ?? []), program]);
}

/** The programs of an agency. */
export function listPrograms(prefix: string): readonly Program[] {
  const programs = BY_PREFIX.get(prefix);
  if (!programs) throw new Error(`no programs of agency ${prefix} in scripts/sample/data/programs.csv`);
  return programs;
}

/** The program of a number such as "93.778". */
export function findProgram(number: string): Program {
  const [prefix = "", extension] = number.split(".");
  const program = listPrograms(prefix).find((each) => each.extension === extension);
  if (!program) throw new Error(`no program ${number} in scripts/sample/data/programs.csv`);
  return program;
}
