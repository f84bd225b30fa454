import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { z } from "zod";
import { describeVersions, type VersionDescription } from "./api-description.ts";
import { readCodes } from "./codes.ts";
import { keepAnswer, type LiveDataSet } from "./keep-answer.ts";
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
  /** How long a one-time token can be redeemed. */
  token_seconds: z.number(),
  versions: z.array(
    z.object({
      schema: z.string(),
      deprecated_at: z.coerce.date().nullable(),
      sunset_at: z.coerce.date().nullable(),
      link: z.string().nullable(),
    }),
  ),
});

/** The result of publication.describe_service(): the live data set, the lifetime of tokens, and the served versions. */
export type ServiceFacts = z.infer<typeof facts> & {
  /** The result of publication.describe_api(). */
  api: VersionDescription[];
  /** The same as a file for the explorer. Its path contains a hash of its content. */
  apiFile: { path: string; body: string };
  /** The result of publication.describe_totals(). */
  totals: Totals | null;
};

const keepMilliseconds = 30_000;

/**
 * Creates a function that reads the service's facts, which are up to 30 seconds old (3 until a data set is published), but not older than
 * the live data set.
 */
export function createFactsReader(
  pool: Pool,
  onError: (error: unknown) => void,
  live: LiveDataSet,
): ReturnType<typeof keepAnswer<ServiceFacts>> {
  const ask = async () => {
    const { rows } = await pool.query<{ facts: unknown; api: unknown; totals: unknown }>(
      `select publication.describe_service() as facts, publication.describe_api() as api,
         publication.describe_totals() as totals`,
    );
    const service = facts.parse(rows[0]?.facts);
    const found = totals.nullable().parse(rows[0]?.totals);
    const api = describeVersions(rows[0]?.api, listKnownValues(found), readCodes);
    return { ...service, totals: found, api, apiFile: writeFile(api) };
  };
  // Pages soon show a first data set.
  return keepAnswer(ask, (found) => (found.data_set === null ? undefined : keepMilliseconds), onError, live);
}

function writeFile(api: VersionDescription[]): ServiceFacts["apiFile"] {
  const body = JSON.stringify(api);
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 8).toUpperCase();
  return { path: `/assets/api-${hash}.json`, body };
}

/** The years and states of the live data set, keyed by how their columns' names end. */
function listKnownValues(found: Totals | null): Record<string, string[]> {
  const list = (property: "audit_year" | "auditee_state") =>
    [...new Set(found?.totals_by_state.map((total) => total[property] ?? ""))].filter(Boolean).sort();
  return { audit_year: list("audit_year"), _state: list("auditee_state") };
}
