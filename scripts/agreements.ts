import type { Command } from "commander";
import { Option } from "commander";
import {
  type Agreement,
  agreementStatuses,
  type Decision,
  decideAgreement,
  listAgreements,
  requestAgreement,
  revokeAgreement,
} from "./access/agreements.ts";
import { formatAgreement, formatAgreements } from "./access/format-agreement.ts";
import { formatJson } from "./access/print.ts";
import {
  addCommand,
  type CommonOptions,
  createProgram,
  inDatabase,
  print,
  runProgram,
} from "./access/program.ts";

type DecisionOptions = CommonOptions & Omit<Decision, "decision">;

const agreementHelp = "the agreement's ID, or its first 6 or more characters";

const program = createProgram(
  "agreements",
  "Keeps the agreements under which an organisation may see suppressed submissions (2 CFR 200.512(b)(2)): requested, then approved or denied by a federal official with Single Audit oversight.",
  "0 done, 1 refused or failed, 2 wrong usage.",
);

addCommand(program, "request", "Write a request for Tribal access down.")
  .requiredOption("--organisation <name>", "who asks")
  .requiredOption("--contact <e-mail>", "whom to write to")
  .action(async (options: CommonOptions & { organisation: string; contact: string }) => {
    printAgreement(await inDatabase(options, (ask) => requestAgreement(ask, options)), options);
  });

addDecision("approve", "Write down that a request was approved. Keys can then be issued under it.")
  .option("--reason <text>", "why")
  .action(decide("approved"));

addDecision("deny", "Write down that a request was denied.")
  .requiredOption("--reason <text>", "why")
  .action(decide("denied"));

addCommand(program, "revoke", "Revoke an approved agreement. Its keys are refused from the next request.")
  .argument("<agreement>", agreementHelp)
  .action(async (reference: string, options: CommonOptions) => {
    const { agreement, refusedKeys } = await inDatabase(options, (ask) => revokeAgreement(ask, reference));
    if (!options.json) print(`Keys that worked until now: ${refusedKeys}\n`);
    printAgreement(agreement, options);
  });

addCommand(program, "list", "List agreements, the newest first.")
  .addOption(new Option("--status <status>", "only in this status").choices(agreementStatuses))
  .action(async (options: CommonOptions & { status?: string }) => {
    const agreements = await inDatabase(options, (ask) => listAgreements(ask, options));
    print(options.json ? formatJson(agreements) : formatAgreements(agreements));
  });

await runProgram(program);

function addDecision(name: string, description: string): Command {
  return addCommand(program, name, description)
    .argument("<agreement>", agreementHelp)
    .requiredOption("--official <name>", "federal official with Single Audit oversight who decided")
    .requiredOption("--agency <name>", "the official's agency")
    .requiredOption("--email <e-mail>", "the official's address");
}

function decide(decision: Decision["decision"]) {
  return async (reference: string, options: DecisionOptions) => {
    printAgreement(
      await inDatabase(options, (ask) => decideAgreement(ask, reference, { ...options, decision })),
      options,
    );
  };
}

function printAgreement(agreement: Agreement, { json }: CommonOptions): void {
  print(json ? formatJson(agreement) : formatAgreement(agreement));
}
