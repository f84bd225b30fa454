import { createHash } from "node:crypto";
import { Option } from "commander";
import { formatRow, formatTable, formatValue, type Row } from "../../shared/format-table.ts";
import type { ProcessContext } from "../../shared/process-context.ts";
import { describeRateLimit, readRateLimits } from "../../shared/read-rate-limits.ts";
import type { Ask } from "./database.ts";
import { issueList } from "./issue-list.ts";
import { addList } from "./list-keys.ts";
import { type CommonOptions, createProgram, ledgerNote, UsageError } from "./program.ts";
import { readKey } from "./read-key.ts";
import { readDay, readDuration, readKeyReference } from "./read-options.ts";

type NewKeyOptions = CommonOptions & { quiet?: true; expires?: string };
type KeyOptions = NewKeyOptions & { tier?: string; owner?: string; label: string; agreement?: string };
type IssueOptions = KeyOptions & { from?: string; out?: string };

const keyHelp = "the key's prefix as `list` shows it, its ID, or the first 6 or more characters of its ID";
const expiry = `when the key expires, 00:00 UTC (default and latest for Tribal keys: after 6 months; default for others`;
const makeQuietOption = () =>
  new Option("--quiet", "print only the key, for a secret store").conflicts("json");

/** Runs `npm run keys` to its end. */
export async function runKeys(context: ProcessContext): Promise<void> {
  const parts = createProgram(
    context,
    "keys",
    "Issues, lists, rotates, revokes and verifies API keys. A key is shown only once, when it is issued, and is never stored.",
    "0 success, 1 refused or failed, 2 invalid arguments, 4 (verify) the key is not valid.",
  );
  parts.program.addHelpText("after", () => describeLimits());
  for (const addCommand of [addIssue, addList, addShow, addRevoke, addRotate]) addCommand(parts);
  addVerify(parts, context);
  await parts.run();
}

type Parts = ReturnType<typeof createProgram>;

function printNewKey({ print }: Parts, key: Row, options: NewKeyOptions, note = ""): void {
  const { key: secret, replaces: _, ...row } = key;
  const text = `Copy the key now. It will not be shown again:\n\n  ${secret}\n\n${formatRow(row)}${note}`;
  print(options, key, options.quiet ? String(secret) : text);
}

function addIssue(parts: Parts): void {
  const { add, inDatabase } = parts;
  add("issue", "Issue a key, or with --from, all keys of a list.")
    .option("--tier <name>", "the key's tier, such as individual or tribal (required)")
    .option("--owner <email>", "the owner's email address (required)")
    .option("--label <text>", "what the key is for", "")
    .option("--expires <day>", `${expiry}: never)`, readDay)
    .option("--agreement <id>", "the approved agreement for a Tribal key")
    .addOption(makeQuietOption())
    .addOption(
      new Option(
        "--from <file>",
        "a CSV file with the columns tier, owner_email and, if needed, label, expires_at, agreement_id",
      ).conflicts(["tier", "owner", "label", "expires", "agreement", "quiet"]),
    )
    .option("--out <file>", "a new CSV file for the keys, which only you can read (required with --from)")
    .action(async (options: IssueOptions) => {
      const { tier, owner, label, expires, agreement, from, out } = options;
      if (from !== undefined) {
        if (out === undefined) throw new UsageError("Name a new file for the keys with --out.");
        const issued = await issueList(from, out, (work) => inDatabase(options, work));
        const text = `Keys issued: ${issued}. They are in ${out}, which only you can read, and will not be shown again.`;
        parts.print(options, { issued, out }, text);
        return;
      }
      if (out !== undefined)
        throw new UsageError("--out works only with --from. To issue the keys of a list, add --from.");
      if (tier === undefined) throw new UsageError("Name the key's tier with --tier.");
      if (owner === undefined) throw new UsageError("Enter the owner's email address with --owner.");
      const values = [tier, owner, label, expires, agreement];
      const sql = `access.issue_key($1, $2, $3, $4,
        case when $5::text is not null then access.resolve_agreement($5) end)`;
      printNewKey(parts, await inDatabase(options, (ask) => makeKey(ask, sql, values)), options);
    });
}

function addShow({ add, inDatabase, print }: Parts): void {
  add("show", "Show a key's record and history, but not the key itself.")
    .argument("<key>", keyHelp, readKeyReference)
    .action(async (reference: string, options: CommonOptions) => {
      const [key, history] = await inDatabase(options, async (ask) => {
        const found = await findKey(ask, reference);
        return [found, await readHistory(ask, found)] as const;
      });
      const events = history.map((event) => ({ ...event, change: describeChange(event) }));
      const table = formatTable(["at", "operator", "database_role", "change"], events);
      print(options, { ...key, history }, `${formatRow(key)}\n\n${table}`);
    });
}

function addRevoke({ add, inDatabase, print }: Parts): void {
  add("revoke", "Revoke a key permanently. Later requests with it are refused.")
    .argument("<key>", keyHelp, readKeyReference)
    .action(async (reference: string, options: CommonOptions) => {
      const key = await inDatabase(options, async (ask) => {
        await ask("select access.revoke_key(access.resolve_key($1))", [reference]);
        return await findKey(ask, reference);
      });
      print(options, key, `${formatRow(key)}\n\n${ledgerNote}`);
    });
}

function addRotate(parts: Parts): void {
  const { add, inDatabase } = parts;
  add("rotate", "Replace a key with a new one. Both keys work during the overlap.")
    .argument("<key>", keyHelp, readKeyReference)
    .option(
      "--overlap <time>",
      "how long the old key keeps working (7d, 12h, 30m, 0)",
      readDuration,
      "7 days",
    )
    .option(
      "--expires <day>",
      `${expiry.replace("the key", "the new key")}: as long as the old key was valid)`,
      readDay,
    )
    .addOption(makeQuietOption())
    .action(async (reference: string, options: NewKeyOptions & { overlap: string }) => {
      const [key, old] = await inDatabase(options, async (ask) => {
        const sql = "access.rotate_key(access.resolve_key($1), $2, $3)";
        const made = await makeKey(ask, sql, [reference, options.overlap, options.expires]);
        return [made, await findKey(ask, reference)] as const;
      });
      const end = formatValue(old.expires_at);
      const note = `\n\nThe old key, ${old.key_prefix}…, works until ${end}.`;
      printNewKey(parts, { ...key, replaces: old }, options, note);
    });
}

function addVerify({ add, inDatabase, print }: Parts, context: ProcessContext): void {
  add(
    "verify",
    "Read a key from standard input, and show whether it is valid and to whom it was issued.",
  ).action(async (options: CommonOptions) => {
    const value = await readKey(context);
    if (value === "")
      throw new UsageError("There is no key on standard input. Pipe the key into this command.");
    // Only the hash leaves this process.
    const hash = createHash("sha256").update(value).digest();
    const [key] = await inDatabase(options, (ask) =>
      ask<Row>("select to_json(key) from access.verify_key($1) as key", [hash]),
    );
    const status = key?.status ?? "unknown";
    const valid = status === "active";
    const verdict = valid ? "valid" : `not valid: ${status}`;
    print(options, { valid, status, ...key }, key ? `${verdict}\n\n${formatRow(key)}` : verdict);
    if (!valid) context.exitCode = 4;
  });
}

async function makeKey(ask: Ask, sql: string, values: unknown[]): Promise<Row> {
  const [made] = await ask<{ api_key: string; api_key_id: string }>(
    `select to_jsonb(made) from ${sql} as made`,
    values,
  );
  return { ...(await findKey(ask, made?.api_key_id ?? "")), key: made?.api_key };
}

/** Finds a key by its ID, its prefix, or the first characters of its ID. */
async function findKey(ask: Ask, reference: string): Promise<Row> {
  const sql = "select to_json(key) from access.key_overview as key where id = access.resolve_key($1)";
  const [key = {}] = await ask<Row>(sql, [reference]);
  return key;
}

interface Event extends Row {
  before: Row | null;
  after: Row | null;
}

const readHistory = (ask: Ask, { id }: Row) =>
  ask<Event>(
    `select to_jsonb(event) - array['id', 'subject', 'subject_id'] from access.events as event
     where subject = 'api_keys' and subject_id = $1 order by id`,
    [id],
  );

function describeChange({ before, after }: Event): string {
  if (before === null || after === null) return "issued";
  return Object.keys(after)
    .filter((name) => after[name] !== before[name])
    .map((name) => `${name}: ${before[name] ?? "none"} → ${after[name] ?? "none"}`)
    .join(", ");
}

function describeLimits(): string {
  const limits = readRateLimits();
  const names = [...limits.tiers.keys(), "all others"];
  const lines = names.map((name) => `  ${name.padEnd(12)} ${describeRateLimit(limits, name)}`);
  return ["", "Rate limits by tier (gateway/kong.yml):", ...lines].join("\n");
}
