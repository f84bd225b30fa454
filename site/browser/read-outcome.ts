import type { Asked } from "./read-address.ts";
import { type Answer, isGood } from "./send-request.ts";

export type Row = Record<string, unknown>;

/** What came of a query. */
export interface Outcome {
  asked: Asked;
  /** As it was sent. */
  target: string;
  headers: Record<string, string>;
  key: string;
  answer?: Answer;
  /** Of an answer that has some. */
  rows?: Row[];
  /** How many rows match in all, if they were counted. */
  total?: number;
  /** Why there is no answer. */
  problem?: string;
}

/** Reads the rows of an answer. */
export function readOutcome(
  sent: Pick<Outcome, "asked" | "target" | "headers" | "key">,
  answer: Answer,
): Outcome {
  const rows = readRows(answer);
  const total = readTotal(answer);
  return {
    ...sent,
    answer,
    ...(rows === undefined ? {} : { rows }),
    ...(total === undefined ? {} : { total }),
  };
}

/** The count that Content-Range ends in. */
export function readTotal({ headers }: Answer): number | undefined {
  const total = /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

function readRows(answer: Answer): Row[] | undefined {
  if (!isGood(answer)) return undefined;
  try {
    const rows: unknown = JSON.parse(answer.text);
    return Array.isArray(rows) ? rows : undefined;
  } catch {
    return undefined;
  }
}
