import { z } from "zod";
import { readData } from "./read-data.ts";

/** A federal program: agency prefix, extension, name, the cluster it belongs to. */
export type Program = { prefix: string; extension: string; name: string; cluster: string };

export const RESEARCH = "RESEARCH AND DEVELOPMENT";
export const STUDENT_AID = "STUDENT FINANCIAL ASSISTANCE";
export const OTHER_CLUSTER = "OTHER CLUSTER NOT LISTED ABOVE";
export const STATE_CLUSTER = "STATE CLUSTER";
export const NO_CLUSTER = "N/A";

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
