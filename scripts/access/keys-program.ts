import { type Command, Option } from "commander";
import { describeRateLimit, readRateLimits } from "../../service/read-rate-limits.ts";
import type { Surroundings } from "../../service/surroundings.ts";
import { UsageError } from "./describe-error.ts";
import { formatHistory, formatKey, formatKeys } from "./format-key.ts";
import {
  findKey,
  issueKey,
  keyStatuses,
  listKeys,
  type NewKey,
  readHistory,
  revokeKey,
  rotateKey,
  verifyKey,
} from "./keys.ts";
import { formatJson, formatTime } from "./print.ts";
import {
  addCommand,
  type CommonOptions,
  createProgram,
  exitCodes,
  inDatabase,
  print,
  runProgram,
} from "./program.ts";
import { readKey } from "./read-key.ts";
import { readDay, readDuration, readKeyReference } from "./read-options.ts";

type NewKeyOptions = CommonOptions & { quiet?: true; expires?: string };
type IssueOptions = NewKeyOptions & { tier: string; owner: string; label: string; agreement?: string };

const keyHelp = "the key's prefix as lists show it, its ID, or the first 6 or more characters of its ID";
const quietOption = () =>
  new Option("--quiet", "print the key and nothing else, for a secret store").conflicts("json");

/** Runs `npm run keys` to its end. */
export async function runKeys(around: Surroundings): Promise<void> {
  const program = createProgram(
    around,
    "keys",
    "Issues, lists, renews and revokes API keys. A key is shown once, when it is made, and stored nowhere.",
    "0 done (verify: the key is valid), 1 refused or failed, 2 wrong usage, 4 the key is not valid (verify).",
  );
  program.addHelpText("after", () => describeLimits());
  for (const add of [addIssue, addList, addShow, addRevoke, addRotate, addVerify]) add(around, program);
  await runProgram(around, program);
}

function addIssue(around: Surroundings, program: Command): void {
  addCommand(around, program, "issue", "Make a key.")
    .requiredOption("--tier <name>", "the key's tier, such as individual or tribal")
    .requiredOption("--owner <e-mail>", "whom to write to about it")
    .option("--label <text>", "what it is for", "")
    .option(
      "--expires <day>",
      "when it ends, 00:00 UTC (a Tribal key: after 6 months; others: never)",
      readDay,
    )
    .option("--agreement <id>", "approved agreement, for a Tribal key")
    .addOption(quietOption())
    .action(async (options: IssueOptions) => {
      printNewKey(around, await inDatabase(around, options, (ask) => issueKey(ask, options)), options);
    });
}

function describeLimits(): string {
  const limits = readRateLimits();
  const names = [...limits.tiers.keys(), "all others"];
  const lines = names.map((name) => `  ${name.padEnd(12)} ${describeRateLimit(limits, name)}`);
  return ["", "Rate limits by tier (gateway/kong.yml):", ...lines].join("\n");
}

function addList(around: Surroundings, program: Command): void {
  addCommand(around, program, "list", "List keys, the newest first.")
    .option("--tier <name>", "only of this tier")
    .addOption(new Option("--status <status>", "only in this status").choices(keyStatuses))
    .option("--owner <e-mail>", "only of this owner")
    .action(async (options: CommonOptions & { tier?: string; status?: string; owner?: string }) => {
      const keys = await inDatabase(around, options, (ask) => listKeys(ask, options));
      print(around, options.json ? formatJson(keys) : formatKeys(keys));
    });
}

function addShow(around: Surroundings, program: Command): void {
  addCommand(around, program, "show", "Show a key and what was done to it.")
    .argument("<key>", keyHelp, readKeyReference)
    .action(async (reference: string, options: CommonOptions) => {
      const { key, history } = await inDatabase(around, options, async (ask) => {
        const found = await findKey(ask, reference);
        return { key: found, history: await readHistory(ask, found) };
      });
      const text = options.json
        ? formatJson({ ...key, history })
        : `${formatKey(key)}\n\n${formatHistory(history)}`;
      print(around, text);
    });
}

function addRevoke(around: Surroundings, program: Command): void {
  addCommand(around, program, "revoke", "Revoke a key, from the next request and for good.")
    .argument("<key>", keyHelp, readKeyReference)
    .action(async (reference: string, options: CommonOptions) => {
      const key = await inDatabase(around, options, (ask) => revokeKey(ask, reference));
      print(around, options.json ? formatJson(key) : formatKey(key));
    });
}

function addRotate(around: Surroundings, program: Command): void {
  addCommand(around, program, "rotate", "Make a key that replaces another; for an overlap both work.")
    .argument("<key>", keyHelp, readKeyReference)
    .option("--overlap <time>", "how long the old key works on (7d, 12h, 30m, 0)", readDuration, "7 days")
    .option(
      "--expires <day>",
      "when the new key ends, 00:00 UTC (a Tribal key: after 6 months; others: after as long a life as the old)",
      readDay,
    )
    .addOption(quietOption())
    .action(async (reference: string, options: NewKeyOptions & { overlap: string }) => {
      const key = await inDatabase(around, options, (ask) => rotateKey(ask, reference, options));
      printNewKey(around, key, options);
      const { key_prefix, expires_at } = key.replaces;
      if (!options.json && !options.quiet) {
        print(around, `\nThe key that it replaces, ${key_prefix}…, works until ${formatTime(expires_at)}.`);
      }
    });
}

function addVerify(around: Surroundings, program: Command): void {
  addCommand(
    around,
    program,
    "verify",
    "Say whether the key on standard input is valid, and whose it is.",
  ).action(async (options: CommonOptions) => {
    const value = await readKey(around);
    if (value === "") throw new UsageError("There is no key on standard input.");
    const key = await inDatabase(around, options, (ask) => verifyKey(ask, value));
    const valid = key?.status === "active";
    const verdict = valid ? "valid" : `not valid: ${key?.status ?? "unknown"}`;
    if (options.json) print(around, formatJson({ valid, ...(key ?? { status: "unknown" }) }));
    else print(around, `${verdict}${key ? `\n\n${formatKey(key)}` : ""}`);
    around.exitCode = valid ? exitCodes.done : exitCodes.notValid;
  });
}

function printNewKey(around: Surroundings, key: NewKey, { quiet, json }: NewKeyOptions): void {
  if (quiet) print(around, key.key);
  else if (json) print(around, formatJson(key));
  else print(around, `The key, shown this once:\n\n  ${key.key}\n\n${formatKey(key)}`);
}
