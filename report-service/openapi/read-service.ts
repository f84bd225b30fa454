import type { Pool } from "pg";
import { z } from "zod";

const described = z.object({
  data_set: z.object({ id: z.string() }).nullable(),
  api: z.array(
    z.object({
      schema: z.string(),
      description: z.string().nullable(),
      tables: z.array(
        z.object({
          name: z.string(),
          description: z.string(),
          columns: z.array(z.object({ name: z.string(), type: z.string(), description: z.string() })),
          embeds: z.array(z.string()),
        }),
      ),
      functions: z.array(
        z.object({
          name: z.string(),
          description: z.string(),
          parameters: z.array(z.object({ name: z.string(), type: z.string() })),
        }),
      ),
    }),
  ),
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
