import { type Command, Option } from "commander";
import type { Surroundings } from "../../service/surroundings.ts";
import {
  type Agreement,
  agreementStatuses,
  type Decision,
  decideAgreement,
  listAgreements,
  requestAgreement,
  revokeAgreement,
} from "./agreements.ts";
import { formatAgreement, formatAgreements } from "./format-agreement.ts";
import { formatJson } from "./print.ts";
import { addCommand, type CommonOptions, createProgram, inDatabase, print, runProgram } from "./program.ts";

type DecisionOptions = CommonOptions & Omit<Decision, "decision">;

const agreementHelp = "the agreement's ID, or its first 6 or more characters";

/** Runs `npm run agreements` to its end. */
export async function runAgreements(around: Surroundings): Promise<void> {
  const program = createProgram(
    around,
    "agreements",
    "Keeps the agreements under which an organisation may see suppressed submissions (2 CFR 200.512(b)(2)): requested, then approved or denied by a federal official with Single Audit oversight.",
    "0 done, 1 refused or failed, 2 wrong usage.",
  );
  addRequest(around, program);
  addDecision(
    around,
    program,
    "approve",
    "Write down that a request was approved. Keys can then be issued under it.",
  )
    .option("--reason <text>", "why")
    .action(decide(around, "approved"));
  addDecision(around, program, "deny", "Write down that a request was denied.")
    .requiredOption("--reason <text>", "why")
    .action(decide(around, "denied"));
  addRevoke(around, program);
  addList(around, program);
  await runProgram(around, program);
}

function addRequest(around: Surroundings, program: Command): void {
  addCommand(around, program, "request", "Write a request for Tribal access down.")
    .requiredOption("--organisation <name>", "who asks")
    .requiredOption("--contact <e-mail>", "whom to write to")
    .action(async (options: CommonOptions & { organisation: string; contact: string }) => {
      const agreement = await inDatabase(around, options, (ask) => requestAgreement(ask, options));
      printAgreement(around, agreement, options);
    });
}

function addDecision(around: Surroundings, program: Command, name: string, description: string): Command {
  return addCommand(around, program, name, description)
    .argument("<agreement>", agreementHelp)
    .requiredOption("--official <name>", "federal official with Single Audit oversight who decided")
    .requiredOption("--agency <name>", "the official's agency")
    .requiredOption("--email <e-mail>", "the official's address");
}

function decide(around: Surroundings, decision: Decision["decision"]) {
  return async (reference: string, options: DecisionOptions) => {
    const agreement = await inDatabase(around, options, (ask) =>
      decideAgreement(ask, reference, { ...options, decision }),
    );
    printAgreement(around, agreement, options);
  };
}

function addRevoke(around: Surroundings, program: Command): void {
  addCommand(
    around,
    program,
    "revoke",
    "Revoke an approved agreement. Its keys are refused from the next request.",
  )
    .argument("<agreement>", agreementHelp)
    .action(async (reference: string, options: CommonOptions) => {
      const { agreement, refusedKeys } = await inDatabase(around, options, (ask) =>
        revokeAgreement(ask, reference),
      );
      if (!options.json) print(around, `Keys that worked until now: ${refusedKeys}\n`);
      printAgreement(around, agreement, options);
    });
}

function addList(around: Surroundings, program: Command): void {
  addCommand(around, program, "list", "List agreements, the newest first.")
    .addOption(new Option("--status <status>", "only in this status").choices(agreementStatuses))
    .action(async (options: CommonOptions & { status?: string }) => {
      const agreements = await inDatabase(around, options, (ask) => listAgreements(ask, options));
      print(around, options.json ? formatJson(agreements) : formatAgreements(agreements));
    });
}

function printAgreement(around: Surroundings, agreement: Agreement, { json }: CommonOptions): void {
  print(around, json ? formatJson(agreement) : formatAgreement(agreement));
}
