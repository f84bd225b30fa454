import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runKeys } from "../../scripts/access/keys.ts";
import { connect } from "../../service/connect.ts";
import { runHere } from "../support/run-here.ts";
import { type RunningStack, runSeparateStack } from "../support/run-stack.ts";
import { send } from "../support/target.ts";

// What docs/keys.md says, followed to the letter: "Add a tier".

const project = path.resolve(import.meta.dirname, "../..");
let directory: string;
let stack: RunningStack;
let steps: { sql: string; yaml: string; sh: string };

beforeAll(async () => {
  steps = readSteps(await readFile(path.join(project, "docs/keys.md"), "utf8"));
  directory = await mkdtemp(path.join(tmpdir(), "single-audit-tier-"));
  const config = path.join(directory, "kong.yml");
  const text = await readFile(path.join(project, "gateway/kong.yml"), "utf8");
  await writeFile(config, text.replace("\n\nplugins:\n", `\n${steps.yaml}\nplugins:\n`));
  stack = await runSeparateStack({ GATEWAY_CONFIG: config });
  const client = await connect(stack.facts.database_url, "test");
  await client.query(steps.sql).finally(() => client.end());
});
afterAll(async () => {
  await stack?.dispose();
  await rm(directory, { recursive: true, force: true });
});

/** The blocks of code of the section, without the indentation of the list that they are in. */
function readSteps(text: string): typeof steps {
  const section = /^## Add a tier\n(.*?)^## /ms.exec(text)?.[1] ?? "";
  const read = (language: string) => {
    const [, indent, block] = new RegExp(`^( *)\`\`\`${language}\n(.*?)^ *\`\`\``, "ms").exec(section) ?? [];
    return block?.replaceAll(new RegExp(`^${indent}`, "gm"), "") ?? "";
  };
  return { sql: read("sql"), yaml: read("yaml"), sh: read("sh") };
}

async function issue(command: string): Promise<string> {
  const [, args = ""] = /^npm run -s keys -- (.*)\n$/.exec(command) ?? [];
  const { stdout, stderr } = await runHere(runKeys, [...args.split(" "), "--quiet"], {
    env: { DATABASE_URL: stack.facts.database_url },
  });
  expect(stderr).toBe("");
  return stdout.trim();
}
const ask = (key: string, target = "/general?limit=1") =>
  send(stack.facts.base_url, target, { key: { value: key } });

it("a tier with a row and a route has rate limits of its own, and counts each of its keys apart", async () => {
  const limit = Number(/hour: (\d+)/.exec(steps.yaml)?.[1]);
  for (const key of [await issue(steps.sh), await issue(steps.sh)]) {
    expect(key).toMatch(/^partner_/);
    for (const asked of [1, 2]) {
      const { status, headers } = await ask(key);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        "x-ratelimit-limit-hour": String(limit),
        "x-ratelimit-remaining-hour": String(limit - asked),
      });
    }
  }
  const { status, headers } = await ask(await issue(steps.sh.replace("partner", "individual")));
  expect(status).toBe(200);
  expect(headers["x-ratelimit-limit-hour"]).not.toBe(String(limit));
});
