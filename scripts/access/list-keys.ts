import { Option } from "commander";
import { formatTable, type Row } from "../../shared/format-table.ts";
import { formatCsv } from "./format-csv.ts";
import type { CommonOptions, createProgram } from "./program.ts";
import { readCount } from "./read-options.ts";

type Filters = { tier?: string; status?: string; owner?: string; search?: string };
type ListOptions = CommonOptions & Filters & { limit?: number; csv?: true };

const statuses = ["active", "expired", "revoked", "agreement ended", "agreement revoked"];
const tableColumns = ["key_prefix", "tier", "owner_email", "label", "status", "expires_at", "last_used_on"];
/** The columns of access.key_overview. */
const allColumns =
  "id key_prefix tier owner_email label status created_at expires_at revoked_at last_used_on agreement_id organization replaces_id".split(
    " ",
  );
/** How many keys a table shows. */
const usualLimit = 100;

/** Adds the command `list`. */
export function addList({ add, inDatabase, print }: ReturnType<typeof createProgram>): void {
  add("list", "List keys, newest first.")
    .option("--tier <name>", "only keys of this tier")
    .addOption(new Option("--status <status>", "only keys with this status").choices(statuses))
    .option("--owner <email>", "only keys of this owner")
    .option("--search <text>", "only keys with this text in their owner, label or organization")
    .option(
      "--limit <number>",
      `print only the newest keys (default: ${usualLimit}, or all with --csv or --json)`,
      readCount,
    )
    .addOption(new Option("--csv", "print CSV").conflicts("json"))
    .action(async (options: ListOptions) => {
      const found = await inDatabase(options, (ask) =>
        ask<Row>(
          `select to_json(key) from access.key_overview as key
           where ($1::text is null or tier = $1) and ($2::text is null or status = $2)
             and ($3::text is null or lower(owner_email) = lower($3))
             and ($4::text is null or strpos(lower(concat_ws(E'\\n', owner_email, label, organization)), lower($4)) > 0)
           order by created_at desc, id`,
          [options.tier, options.status, options.owner, options.search],
        ),
      );
      const limit = options.limit ?? (options.csv || options.json ? found.length : usualLimit);
      const keys = found.slice(0, limit);
      print(options, keys, options.csv ? formatCsv(allColumns, keys) : describeKeys(keys, found.length));
    });
}

function describeKeys(keys: Row[], count: number): string {
  if (count === 0) return "No keys.";
  const table = formatTable(tableColumns, keys);
  if (keys.length === count) return table;
  return `${table}\n\nThese are the newest ${keys.length} of ${count} keys. For more, use --limit, --search or --csv.`;
}
