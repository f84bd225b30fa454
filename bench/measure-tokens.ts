import { writeFile } from "node:fs/promises";
import path from "node:path";
import { ask } from "./ask.ts";
import type { BenchStack } from "./start-bench-stack.ts";

const seconds = 3;

/** Pairs a second of a token requested and redeemed, by how many clients do so at once. */
export async function measureTokens({
  facts,
  client,
  directory,
}: BenchStack): Promise<Record<string, number>> {
  const { rows } = await client.query("select report_id from suppressed.general limit 1");
  const reportId: string = rows[0].report_id;
  await writeFile(path.join(directory, "reports", `${reportId}.pdf`), "%PDF-1.4\n");
  const headers = {
    "x-api-key": facts.keys.tribal,
    "content-profile": "admin_api_v1_1_0",
    "content-type": "application/json",
  };
  const body = JSON.stringify({ report_id: reportId });
  const pair = async () => {
    const asked = await ask(`${facts.base_url}/rpc/request_file_access`, headers, { method: "POST", body });
    const [token] = /[0-9a-f]{8}(-[0-9a-f]{4,12}){4}/.exec(asked.body.toString()) ?? [];
    await ask(`${facts.app_url}/dissemination/report/pdf/ota/${token}`, {}, { status: 302 });
  };
  const rates: Record<string, number> = {};
  for (const clients of [1, 8]) {
    let pairs = 0;
    const until = performance.now() + seconds * 1000;
    await Promise.all(
      Array.from({ length: clients }, async () => {
        for (; performance.now() < until; pairs += 1) await pair();
      }),
    );
    rates[clients] = Math.round(pairs / seconds);
    process.stderr.write(`tokens, ${clients} clients: ${rates[clients]} pairs/s\n`);
  }
  return rates;
}
