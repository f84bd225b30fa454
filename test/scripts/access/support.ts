import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { runAgreements } from "../../../scripts/access/agreements.ts";
import { runKeys } from "../../../scripts/access/keys.ts";
import { execute } from "../../support/execute.ts";
import { type Run, type RunOptions, runHere } from "../../support/run-here.ts";
import { query, queryValue, target } from "../../support/target.ts";

/** An email address that no other test uses, because tests cannot delete keys and agreements. */
export const makeOwner = () => `${randomUUID()}@example.gov`;

export async function approveAgreement(): Promise<string> {
  const id = await queryValue<string>("select access.request_agreement('Test Nation', 'office@example.gov')");
  await query("select access.decide_agreement($1, 'approved', 'Ada', 'Agency', 'ada@example.gov')", [id]);
  return id;
}

export async function issueKey(
  tier = "individual",
  agreement?: string,
  { owner = makeOwner(), label = "test" } = {},
): Promise<{ id: string; key: string }> {
  const [row] = await query<{ id: string; key: string }>(
    "select api_key_id as id, api_key as key from access.issue_key($1, $2, $3, null, $4)",
    [tier, owner, label, agreement ?? null],
  );
  return row ?? { id: "", key: "" };
}

const defaults = (): RunOptions => ({ env: { DATABASE_URL: target.databaseUrl } });

/** Runs `npm run keys` in this process, on the database under test unless `env` is given. */
export const keys = (args: string, options?: RunOptions) =>
  runHere(runKeys, splitWords(args), { ...defaults(), ...options });
export const agreements = (args: string, options?: RunOptions) =>
  runHere(runAgreements, splitWords(args), { ...defaults(), ...options });

/** Runs a shell command in the project, on the database under test unless `env` is given. */
export const shell = (command: string, options?: RunOptions): Promise<Run> =>
  execute(["sh", "-c", command], {
    PATH: process.env.PATH,
    HOME: "/nonexistent",
    ...(options ?? defaults()).env,
  });

/** Splits a command line into words, some of them in single quotes. */
const splitWords = (line: string) =>
  (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ""));

/** Expects an exit status, one line on stderr, and nothing on stdout that a pipeline would take for a result. */
export function expectFailure({ code, stdout, stderr }: Run, message: RegExp, status = 1) {
  expect([code, stdout]).toEqual([status, ""]);
  expect(stderr).toMatch(/^error: [^\n]+\n$/);
  expect(stderr).toMatch(message);
}
