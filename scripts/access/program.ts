import { Command, CommanderError } from "commander";
import { DatabaseError } from "pg";
import { dotenv } from "zx";
import type { ProcessContext } from "../../shared/process-context.ts";
import { readSecretFiles } from "../../shared/read-secret-files.ts";
import { type Ask, inTransaction } from "./database.ts";
import { findOperator, readOperator } from "./operator.ts";

/** Options of every command. */
export interface CommonOptions {
  operator: string;
  json?: true;
}

/** What commands print after a revocation. */
export const ledgerNote = "The refresher writes this to the ledger within seconds.";

/** The command was used incorrectly. */
export class UsageError extends Error {
  override name = "UsageError";
}

const help = `
Environment (or .env):
  DATABASE_URL      the database's URL; its user is a member of key_operator, or the deploying role
  PGHOST, PGUSER, PGDATABASE, …
                    libpq's variables, used if DATABASE_URL is not set
  DATABASE_URL_FILE, PGPASSWORD_FILE
                    files that contain the URL or the password
  STACK_DIRECTORY   if none of these is set, the database of the local stack in this directory is used (default: .stack)

Exit status: `;

/** Creates a program whose commands share their options, their database connection and their exit status. */
export function createProgram(
  context: ProcessContext,
  name: string,
  description: string,
  exitStatus: string,
) {
  const { stdout, stderr, env } = context;
  const program = new Command(`npm run -s ${name} --`)
    .description(description)
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .addHelpText("afterAll", help + exitStatus);
  const operator = findOperator(env);
  return {
    program,
    add: (usage: string, summary: string): Command =>
      program
        .command(usage)
        .description(summary)
        .allowExcessArguments(false)
        .option("--operator <name>", "your name, for the audit log", readOperator, operator)
        .option("--json", "print JSON"),
    /** Runs work in one transaction in the database that the environment selects. */
    inDatabase: <Result>(options: CommonOptions, work: (ask: Ask) => Promise<Result>): Promise<Result> => {
      const variables = { ...dotenv.loadSafe(".env"), ...env };
      // Assigned to the process's environment, because node-postgres reads libpq's variables from there.
      context.env = readSecretFiles(variables, ["DATABASE_URL", "PGPASSWORD"]);
      return inTransaction(context.env, options.operator, (line) => stderr.write(`${line}\n`), work);
    },
    /** Prints text for people, or a value as JSON for programs. */
    print: ({ json }: Pick<CommonOptions, "json">, value: unknown, text: string): void =>
      void stdout.write(`${json ? JSON.stringify(value, null, 2) : text}\n`),
    /** Runs the command and sets the exit code. If it fails, prints one line on standard error. */
    run: async (): Promise<void> => {
      stdout.on("error", (error) => {
        stderr.write(`error: the output could not be written: ${error.message}\n`);
        context.exitCode = 1;
      });
      try {
        await program.parseAsync(context.argv);
      } catch (error) {
        const isUsage = error instanceof UsageError || error instanceof CommanderError;
        context.exitCode = isUsage ? 2 : 1;
        if (error instanceof CommanderError && error.exitCode === 0) context.exitCode = 0;
        // Commander has already printed its own errors.
        if (!(error instanceof CommanderError)) stderr.write(`error: ${describeError(error)}\n`);
      }
    },
  };
}

const notDeployed = "Check that this is the right database. If it is, deploy to it with npm run db:deploy.";
/** What to do about errors that PostgreSQL itself raises, by SQLSTATE. */
const hints: Record<string, string> = {
  "3F000": notDeployed,
  "42P01": notDeployed,
  "42883": notDeployed,
  "42501": "Connect as a member of key_operator, or as the deploying role (docs/keys.md).",
};

/** Says in one line what happened and what to do. Omits a database error's detail, which may contain a key's hash. */
function describeError(error: unknown): string {
  const { message } = error as Error;
  const hint = error instanceof DatabaseError ? (hints[error.code ?? ""] ?? error.hint ?? "") : "";
  const line = message.replaceAll(/\s+/g, " ").trim();
  return hint === "" ? line : `${line.replace(/[^.!?]$/, "$&.")} ${hint}`;
}
