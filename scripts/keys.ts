import { Option } from "commander";
import { UsageError } from "./access/describe-error.ts";
import { formatHistory, formatKey, formatKeys } from "./access/format-key.ts";
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
} from "./access/keys.ts";
import { formatJson, formatTime } from "./access/print.ts";
import {
  addCommand,
  type CommonOptions,
  createProgram,
  exitCodes,
  inDatabase,
  print,
  runProgram,
} from "./access/program.ts";
import { readKey } from "./access/read-key.ts";
import { readDay, readDuration, readKeyReference } from "./access/read-options.ts";

type NewKeyOptions = CommonOptions & { quiet?: true; expires?: string };
type IssueOptions = NewKeyOptions & { tier: string; owner: string; label: string; agreement?: string };

const keyHelp = "the key's ID, or the first characters of the key or of its ID";
const quietOption = () =>
  new Option("--quiet", "print the key and nothing else, for a secret store").conflicts("json");

const program = createProgram(
  "keys",
  "Issues, lists, renews and revokes API keys. A key is shown once, when it is made, and stored nowhere.",
  "0 done (verify: the key is valid), 1 refused or failed, 2 wrong usage, 4 the key is not valid (verify).",
);

addCommand(program, "issue", "Make a key.")
  .requiredOption("--tier <name>", "what it may do: demo, individual, tribal")
  .requiredOption("--owner <e-mail>", "whom to write to about it")
  .option("--label <text>", "what it is for", "")
  .option("--expires <day>", "when it ends, 00:00 UTC (a Tribal key: after 6 months; others: never)", readDay)
  .option("--agreement <id>", "approved agreement, for a Tribal key")
  .addOption(quietOption())
  .action(async (options: IssueOptions) => {
    printNewKey(await inDatabase(options, (ask) => issueKey(ask, options)), options);
  });

addCommand(program, "list", "List keys, the newest first.")
  .option("--tier <name>", "only of this tier")
  .addOption(new Option("--status <status>", "only in this status").choices(keyStatuses))
  .option("--owner <e-mail>", "only of this owner")
  .action(async (options: CommonOptions & { tier?: string; status?: string; owner?: string }) => {
    const keys = await inDatabase(options, (ask) => listKeys(ask, options));
    print(options.json ? formatJson(keys) : formatKeys(keys));
  });

addCommand(program, "show", "Show a key and what was done to it.")
  .argument("<key>", keyHelp, readKeyReference)
  .action(async (reference: string, options: CommonOptions) => {
    const { key, history } = await inDatabase(options, async (ask) => {
      const found = await findKey(ask, reference);
      return { key: found, history: await readHistory(ask, found) };
    });
    print(options.json ? formatJson({ ...key, history }) : `${formatKey(key)}\n\n${formatHistory(history)}`);
  });

addCommand(program, "revoke", "Revoke a key, from the next request and for good.")
  .argument("<key>", keyHelp, readKeyReference)
  .action(async (reference: string, options: CommonOptions) => {
    const key = await inDatabase(options, (ask) => revokeKey(ask, reference));
    print(options.json ? formatJson(key) : formatKey(key));
  });

addCommand(program, "rotate", "Make a key that replaces another; for an overlap both work.")
  .argument("<key>", keyHelp, readKeyReference)
  .option("--overlap <time>", "how long the old key works on (7d, 12h, 30m, 0)", readDuration, "7 days")
  .option(
    "--expires <day>",
    "when the new key ends, 00:00 UTC (a Tribal key: after 6 months; others: after as long a life as the old)",
    readDay,
  )
  .addOption(quietOption())
  .action(async (reference: string, options: NewKeyOptions & { overlap: string }) => {
    const key = await inDatabase(options, (ask) => rotateKey(ask, reference, options));
    printNewKey(key, options);
    const { key_prefix, expires_at } = key.replaces;
    if (!options.json && !options.quiet) {
      print(`\nThe key that it replaces, ${key_prefix}…, works until ${formatTime(expires_at)}.`);
    }
  });

addCommand(program, "verify", "Say whether the key on standard input is valid, and whose it is.").action(
  async (options: CommonOptions) => {
    const value = await readKey();
    if (value === "") throw new UsageError("There is no key on standard input.");
    const key = await inDatabase(options, (ask) => verifyKey(ask, value));
    const valid = key?.status === "active";
    if (options.json) print(formatJson({ valid, ...(key ?? { status: "unknown" }) }));
    else
      print(
        `${valid ? "valid" : `not valid: ${key?.status ?? "unknown"}`}${key ? `\n\n${formatKey(key)}` : ""}`,
      );
    process.exitCode = valid ? exitCodes.done : exitCodes.notValid;
  },
);

await runProgram(program);

function printNewKey(key: NewKey, { quiet, json }: NewKeyOptions): void {
  if (quiet) print(key.key);
  else if (json) print(formatJson(key));
  else print(`The key, shown this once:\n\n  ${key.key}\n\n${formatKey(key)}`);
}
