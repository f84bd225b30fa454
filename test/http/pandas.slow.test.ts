import { execFile, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { readBlocks } from "../support/read-blocks.ts";
import { request, target } from "../support/target.ts";

const hasPandas = spawnSync("python3", ["-c", "import pandas"]).status === 0;

async function run(rewrite = (text: string) => text): Promise<string> {
  const file = path.resolve(import.meta.dirname, "../../docs/api.md");
  const [block] = readBlocks(await readFile(file, "utf8"), "Read codes as text");
  const text = (block?.text ?? "")
    .replace("http://127.0.0.1:8000", target.baseUrl.replace(/\/$/, ""))
    .replace("DEMO_KEY", target.keys.individual);
  const { stdout } = await promisify(execFile)("python3", ["-c", rewrite(text)]);
  return stdout;
}

it.skipIf(!hasPandas)(
  "the Python example of docs/api.md keeps leading zeros, in JSON and in CSV",
  async () => {
    const query =
      "select=auditee_ein,auditee_zip,total_amount_expended&auditee_state=eq.PR&order=report_id&limit=5";
    const { json } = await request(`/general?${query}`, { key: "individual" });
    expect(json).toHaveLength(5);
    const printed = await run();
    for (const { auditee_ein, auditee_zip, total_amount_expended } of json) {
      expect(auditee_zip).toMatch(/^0/);
      const line = new RegExp(` ${auditee_ein} +${auditee_zip} +${total_amount_expended ?? "<NA>"}\\n`, "g");
      expect(printed.match(line)).toHaveLength(2);
    }
  },
);

it.skipIf(!hasPandas)("and in CSV the text N/A", async () => {
  const findings = (text: string) =>
    text
      .replace(/general\?select=.*limit=5/, "findings?prior_finding_ref_numbers=eq.N%2FA&limit=5")
      .replaceAll(/print\((from_\w+)\..*/g, "print($1.prior_finding_ref_numbers)");
  expect((await run(findings)).match(/ N\/A\n/g)).toHaveLength(10);
});
