import type { Pool } from "pg";
import { z } from "zod";
import { describeVersions, type VersionDescription } from "./api-description.ts";
import { type Totals, totals } from "./totals.ts";

const facts = z.object({
  data_set: z
    .object({
      id: z.string(),
      published_at: z.coerce.date(),
      /** Public rows by table. */
      rows: z.record(z.string(), z.number()),
    })
    .nullable(),
  versions: z.array(
    z.object({
      schema: z.string(),
      deprecated_at: z.coerce.date().nullable(),
      sunset_at: z.coerce.date().nullable(),
      link: z.string().nullable(),
    }),
  ),
});

/** What publication.describe_service() says: the live data set and the served versions. */
export type ServiceFacts = z.infer<typeof facts> & {
  /** What publication.describe_api() says. The same object for as long as neither deployment nor data set change. */
  api: VersionDescription[];
  /** What publication.describe_totals() says. */
  totals: Totals | null;
};

const keepMilliseconds = 30_000;
const keepFailureMilliseconds = 3000;
const patienceMilliseconds = 2000;

/**
 * Makes a function that tells the service's facts, up to 30 seconds old. It resolves to undefined when the database has
 * not told them within 2 seconds. However many ask, the database is asked once at a time.
 */
export function createFactsReader(
  pool: Pool,
  onError: (error: unknown) => void,
): () => Promise<ServiceFacts | undefined> {
  let asked: Promise<ServiceFacts | undefined> | undefined;
  let askAgainAt = 0;
  const readApi = rememberLast(describeVersions);
  const ask = async () => {
    try {
      const { rows } = await pool.query<{ facts: unknown; api: unknown; totals: unknown }>(
        `select publication.describe_service() as facts, publication.describe_api() as api,
           publication.describe_totals() as totals`,
      );
      askAgainAt = performance.now() + keepMilliseconds;
      const told = totals.nullable().parse(rows[0]?.totals);
      return {
        ...facts.parse(rows[0]?.facts),
        totals: told,
        api: readApi(rows[0]?.api, listKnownValues(told)),
      };
    } catch (error) {
      askAgainAt = performance.now() + keepFailureMilliseconds;
      onError(error);
      return undefined;
    }
  };
  return async () => {
    if (asked === undefined || performance.now() > askAgainAt) {
      // Until it has answered, everyone waits for this one.
      askAgainAt = Number.POSITIVE_INFINITY;
      asked = ask();
    }
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), patienceMilliseconds);
    });
    return Promise.race([asked, tooLate]).finally(() => clearTimeout(timer));
  };
}

/** Years and states of the live data set, by the end of the names of columns that hold them. */
function listKnownValues(told: Totals | null): Record<string, string[]> {
  const list = (property: "audit_year" | "auditee_state") =>
    [...new Set(told?.totals_by_state.map((total) => total[property] ?? ""))].filter(Boolean).sort();
  return { audit_year: list("audit_year"), _state: list("auditee_state") };
}

/** Makes a function that gives the same object again for as long as it is asked the same. */
function rememberLast<Input extends unknown[], Output extends object>(
  make: (...input: Input) => Output,
): (...input: Input) => Output {
  let last: { text: string; output: Output } | undefined;
  return (...input) => {
    const text = JSON.stringify(input);
    if (last?.text !== text) last = { text, output: make(...input) };
    return last.output;
  };
}
