import { type Command, Option } from "commander";
import { formatRow, formatTable, type Row } from "../../shared/format-table.ts";
import type { ProcessContext } from "../../shared/process-context.ts";
import type { Ask } from "./database.ts";
import { type CommonOptions, createProgram, ledgerNote } from "./program.ts";
import { readDay } from "./read-options.ts";

type Decision = CommonOptions & {
  official: string;
  agency: string;
  email: string;
  reason?: string;
  endsOn?: string;
};

const agreementHelp = "the agreement's ID, or its first 6 or more characters";
const statuses = ["requested", "approved", "denied", "ended", "revoked"];
const timeZone = "in Washington, DC";

/** Runs `npm run agreements` to its end. */
export async function runAgreements(context: ProcessContext): Promise<void> {
  const parts = createProgram(
    context,
    "agreements",
    "Manages the agreements under which an organization may see suppressed reports (2 CFR 200.512(b)(2)). An agreement is requested, then approved or denied by a federal official with Single Audit oversight.",
    "0 success, 1 refused or failed, 2 invalid arguments.",
  );

  addRequest(parts);
  addDecision(
    parts,
    "approve",
    "Record that an official approved a request. You can then issue keys under the agreement. To move its last day later or remove it, record a new approval.",
    "approved",
  ).option("--ends-on <day>", `the last day of the agreement, ${timeZone} (default: it has no end)`, readDay);
  addDecision(parts, "deny", "Record that a request was denied.", "denied");
  addShorten(parts);
  addRevoke(parts);
  addList(parts);
  await parts.run();
}

type Parts = ReturnType<typeof createProgram>;

function addRequest({ add, inDatabase, print }: Parts): void {
  add("request", "Record a request for Tribal access.")
    .requiredOption("--organization <name>", "the organization that requests access (required)")
    .requiredOption("--contact <email>", "its email address (required)")
    .action(async (options: CommonOptions & { organization: string; contact: string }) => {
      const agreement = await inDatabase(options, async (ask) => {
        const values = [options.organization, options.contact];
        const [id = ""] = await ask<string>("select access.request_agreement($1, $2)", values);
        return await findAgreement(ask, id);
      });
      print(options, agreement, formatRow(agreement));
    });
}

function addDecision(
  { add, inDatabase, print }: Parts,
  name: string,
  description: string,
  decision: "approved" | "denied",
): Command {
  return add(name, description)
    .argument("<agreement>", agreementHelp)
    .requiredOption(
      "--official <name>",
      "the federal official with Single Audit oversight who decided (required)",
    )
    .requiredOption("--agency <name>", "the official's agency (required)")
    .requiredOption("--email <email>", "the official's email address (required)")
    .addOption(
      new Option(
        "--reason <text>",
        `the reason for the decision${decision === "denied" ? " (required)" : ""}`,
      ).makeOptionMandatory(decision === "denied"),
    )
    .action(async (reference: string, options: Decision) => {
      const { official, agency, email, reason, endsOn } = options;
      const agreement = await inDatabase(options, async (ask) => {
        const sql = "select access.decide_agreement(access.resolve_agreement($1), $2, $3, $4, $5, $6, $7)";
        await ask(sql, [reference, decision, official, agency, email, reason, endsOn]);
        return await findAgreement(ask, reference);
      });
      print(options, agreement, formatRow(agreement));
    });
}

function addShorten({ add, inDatabase, print }: Parts): void {
  add(
    "shorten",
    "Set the last day of an approved agreement, or move it earlier. After that day, its keys are refused.",
  )
    .argument("<agreement>", agreementHelp)
    .requiredOption("--ends-on <day>", `the last day of the agreement, ${timeZone} (required)`, readDay)
    .action(async (reference: string, options: CommonOptions & { endsOn: string }) => {
      const agreement = await inDatabase(options, async (ask) => {
        const sql = "select access.shorten_agreement(access.resolve_agreement($1), $2)";
        await ask(sql, [reference, options.endsOn]);
        return await findAgreement(ask, reference);
      });
      print(options, agreement, `${formatRow(agreement)}\n\n${ledgerNote}`);
    });
}

function addRevoke({ add, inDatabase, print }: Parts): void {
  add("revoke", "Revoke an approved agreement. Every later request with its keys is refused.")
    .argument("<agreement>", agreementHelp)
    .action(async (reference: string, options: CommonOptions) => {
      const [agreement, before] = await inDatabase(options, async (ask) => {
        const found = await findAgreement(ask, reference);
        await ask("select access.revoke_agreement($1)", [found.id]);
        return [await findAgreement(ask, reference), found] as const;
      });
      print(
        options,
        agreement,
        `Keys revoked: ${before.active_keys}\n\n${formatRow(agreement)}\n\n${ledgerNote}`,
      );
    });
}

function addList({ add, inDatabase, print }: Parts): void {
  add("list", "List agreements, newest first.")
    .addOption(new Option("--status <status>", "only agreements with this status").choices(statuses))
    .action(async (options: CommonOptions & { status?: string }) => {
      const agreements = await inDatabase(options, (ask) =>
        ask<Row>(
          `select to_json(agreement) from access.agreement_overview as agreement
           where ($1::text is null or status = $1) order by requested_at desc, id`,
          [options.status],
        ),
      );
      const columns =
        "id organization status requested_at decided_at decided_by_name ends_on active_keys".split(" ");
      print(
        options,
        agreements,
        agreements.length === 0 ? "No agreements." : formatTable(columns, agreements),
      );
    });
}

/** Finds an agreement by its ID, or by the first characters of its ID. */
async function findAgreement(ask: Ask, reference: string): Promise<Row> {
  const [agreement = {}] = await ask<Row>(
    "select to_json(agreement) from access.agreement_overview as agreement where id = access.resolve_agreement($1)",
    [reference],
  );
  return agreement;
}
