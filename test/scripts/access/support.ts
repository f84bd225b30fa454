import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import path from "node:path";
import { Client, type DatabaseError } from "pg";
import { expect } from "vitest";
import { runAgreements } from "../../../scripts/access/agreements.ts";
import { runKeys } from "../../../scripts/access/keys.ts";
import { programArguments } from "../../support/compile-programs.ts";
import { collect, type Run, type RunOptions, runHere } from "../../support/run-here.ts";
import { query, target } from "../../support/target.ts";

const project = path.resolve(import.meta.dirname, "../../..");

/** An address that no other test uses: nothing that is made here can be removed. */
export const makeOwner = () => `${randomUUID()}@example.gov`;

/** Runs statements as a role, in a transaction that is rolled back. Returns the rows of the last one. */
export async function tryAs<Row extends Record<string, unknown>>(
  role: string,
  ...statements: (string | [string, unknown[]])[]
): Promise<Row[]> {
  const client = new Client({ connectionString: target.databaseUrl });
  await client.connect();
  try {
    await client.query("begin");
    await client.query(`set local role ${role}`);
    let rows: Row[] = [];
    for (const statement of statements) {
      const [sql, values] = typeof statement === "string" ? [statement, []] : statement;
      rows = (await client.query<Row>(sql, values)).rows;
    }
    return rows;
  } finally {
    await client.end();
  }
}

/** Runs statements as the owner and rolls them back. Returns what the database says against them. */
export async function refusal(...statements: (string | [string, unknown[]])[]): Promise<string> {
  return await tryAs("postgres", ...statements).then(
    () => "nothing: it was allowed",
    (error: DatabaseError) => error.message,
  );
}

/** The one value of a query, as the owner. */
export async function ask<Value>(sql: string, values: unknown[] = []): Promise<Value> {
  const [row] = await query<Record<string, Value>>(sql, values);
  return Object.values(row ?? {})[0] as Value;
}

export const requestAgreement = () =>
  ask<string>("select access.request_agreement('Test Nation', 'office@example.gov')");

export async function approveAgreement(): Promise<string> {
  const id = await requestAgreement();
  await query("select access.decide_agreement($1, 'approved', 'Ada', 'Agency', 'ada@example.gov')", [id]);
  return id;
}

export interface IssuedKey {
  id: string;
  key: string;
}

export async function issueKey(tier = "individual", agreementId?: string): Promise<IssuedKey> {
  const [row] = await query<{ api_key_id: string; api_key: string }>(
    "select * from access.issue_key($1, $2, 'test', key_agreement_id => $3)",
    [tier, makeOwner(), agreementId ?? null],
  );
  return { id: row?.api_key_id ?? "", key: row?.api_key ?? "" };
}

const defaults = (): RunOptions => ({ env: { DATABASE_URL: target.databaseUrl } });

/** Runs a shell command in the project. Its environment names the database under test, unless `env` is given. */
export async function shell(command: string, options?: RunOptions): Promise<Run> {
  const { stdin = "", env } = { ...defaults(), ...options };
  const child = spawn("sh", ["-c", command], {
    cwd: project,
    env: { PATH: process.env.PATH ?? "", HOME: "/nonexistent", ...env },
  });
  const [stdout, stderr] = [collect(), collect()];
  child.stdout.pipe(stdout.stream);
  child.stderr.pipe(stderr.stream);
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** Runs `npm run keys` in this process, and with `shell` in one of its own. */
export const keys = (args: string, options?: RunOptions) =>
  runHere(runKeys, splitWords(args), { ...defaults(), ...options });
export const shellKeys = (args: string, options?: RunOptions) =>
  shell(`node ${programArguments("scripts/keys.ts").join(" ")} ${args}`, options);
/** Runs `npm run agreements` in this process, and with `shell` in one of its own. */
export const agreements = (args: string, options?: RunOptions) =>
  runHere(runAgreements, splitWords(args), { ...defaults(), ...options });
export const shellAgreements = (args: string, options?: RunOptions) =>
  shell(`node ${programArguments("scripts/agreements.ts").join(" ")} ${args}`, options);

/** The words of a command line, of which some are in single quotes. */
function splitWords(line: string): string[] {
  return (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ""));
}

/** A failure says so in one line, and prints nothing that a pipeline would take for a result. */
export function expectOneLine({ stdout, stderr }: Run, message: RegExp) {
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^error: [^\n]+\n$/);
  expect(stderr).toMatch(message);
}

/** Waits for notifications of the database under test. */
export async function listen(...channels: string[]) {
  const client = new Client({ connectionString: target.databaseUrl });
  await client.connect();
  const heard: string[] = [];
  client.on("notification", ({ channel, payload }) => heard.push(`${channel} ${payload ?? ""}`.trim()));
  for (const channel of channels) await client.query(`listen ${channel}`);
  return {
    /** What was heard until now. A notification reaches a session before the answer to its next query. */
    heard: async () => {
      await client.query("select");
      return heard;
    },
    close: () => client.end(),
  };
}
