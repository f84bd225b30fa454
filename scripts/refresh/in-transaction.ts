import type { Client } from "pg";

/** Runs work in a transaction, which is rolled back if the work fails. */
export async function inTransaction<Result>(
  client: Client,
  work: () => Promise<Result>,
  end: "commit" | "rollback" = "commit",
): Promise<Result> {
  await client.query("begin");
  try {
    const result = await work();
    await client.query(end);
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}
