import { z } from "zod";

/** What publication.describe_api() tells: the versions that are deployed, which PostgREST reads as well. */
export const describedApi = z.array(
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
);
