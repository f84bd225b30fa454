import type { Pool } from "pg";
import { z } from "zod";
import { describedApi } from "../described-api.ts";

const described = z.object({
  data_set: z.object({ id: z.string() }).nullable(),
  api: describedApi,
});

/** What is deployed, as publication.describe_api() tells it: what PostgREST reads as well. */
export type DescribedService = z.infer<typeof described>;
export type DescribedVersion = DescribedService["api"][number];
export type DescribedTable = DescribedVersion["tables"][number];

/** @throws whatever the database does */
export async function readService(pool: Pool): Promise<DescribedService> {
  const { rows } = await pool.query<{ api: unknown; data_set: unknown }>(
    "select publication.describe_api() as api, publication.describe_service() -> 'data_set' as data_set",
  );
  return described.parse(rows[0]);
}
