import { filteredPages } from "./measure-pages.ts";
import type { BenchStack } from "./start-bench-stack.ts";

/** What PostgreSQL does for a page, ours and of the common design, as `explain (analyze, buffers)` tells. */
export async function readPlans(
  { client, facts, asGateway }: BenchStack,
  lastOffset: number,
): Promise<string> {
  const parts: string[] = [];
  const queries: Record<string, string> = {
    [`federal_awards at offset ${lastOffset}`]: `federal_awards limit 20000 offset ${lastOffset}`,
    ...Object.fromEntries(Object.entries(filteredPages).map(([name, query]) => [name, translate(query)])),
  };
  for (const [name, query] of Object.entries(queries)) {
    for (const [design, schema] of [
      ["ours", "api_v1_1_0"],
      ["common design", "api_v9_9_9"],
    ]) {
      await client.query("begin");
      // As PostgREST sets it: the settings of the token's role, the headers, and the role of the key.
      await client.query(
        "set local synchronize_seqscans = off; set local max_parallel_workers_per_gather = 0",
      );
      await client.query("select set_config('request.headers', $1, true)", [
        JSON.stringify(asGateway(facts.keys.individual)),
      ]);
      await client.query("set local role api_public");
      const plan = await client.query({
        text: `explain (analyze, buffers) select * from ${schema}.${query}`,
        rowMode: "array",
      });
      await client.query("rollback");
      parts.push(`## ${name}: ${design}\n\n\`\`\`text\n${plan.rows.join("\n")}\n\`\`\`\n`);
    }
  }
  return `# Plans\n\nOf the queries of RESULTS.md, without what PostgREST puts around them.\n\n${parts.join("\n")}`;
}

/** As much of PostgREST's query language as the pages use. */
function translate(page: string): string {
  const [table = "", parameters = ""] = page.split("?");
  const conditions: string[] = [];
  let order = "";
  for (const [name, value] of new URLSearchParams(parameters)) {
    const [operator = "", ...rest] = value.split(".");
    const operand = `'${rest.join(".").replaceAll("*", "%")}'`;
    if (name === "order") order = ` order by ${value.replace(".nullslast", " nulls last").replace(".", " ")}`;
    else conditions.push(`${name} ${{ eq: "=", gte: ">=", ilike: "ilike" }[operator]} ${operand}`);
  }
  const where = conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`;
  return `${table}${where}${order} limit 1000`;
}
