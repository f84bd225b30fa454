import { userInfo } from "node:os";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { dotenv } from "zx";
import { describeError, UsageError } from "./describe-error.ts";
import { findDatabase } from "./find-database.ts";
import { type Ask, withAccess } from "./with-access.ts";

/** Exit codes of `keys` and `agreements`. */
export const exitCodes = { done: 0, failed: 1, usage: 2, notValid: 4 } as const;

/** Options of every command. */
export interface CommonOptions {
  operator: string;
  json?: true;
}

const environmentHelp = `
Environment (or .env):
  DATABASE_URL      the database, as the owner of the schema access; or libpq's PGHOST, PGUSER, PGDATABASE, …
  STACK_DIRECTORY   without these, the database of the stack that runs on this directory is used (.stack)`;

/** A program whose commands all exit as its help says. */
export function createProgram(name: string, description: string, exitStatus: string): Command {
  return new Command(`npm run -s ${name} --`)
    .description(description)
    .exitOverride()
    .addHelpText("afterAll", `${environmentHelp}\n\nExit status: ${exitStatus}`);
}

/** Adds a command with the options of every command. */
export function addCommand(program: Command, usage: string, description: string): Command {
  return program
    .command(usage)
    .description(description)
    .allowExcessArguments(false)
    .option("--operator <name>", "who does this, for the record", readOperator, findOperator())
    .option("--json", "print JSON");
}

/** Runs work on the database that the environment names, in one transaction. */
export async function inDatabase<Result>(
  { operator }: CommonOptions,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  process.env = { ...dotenv.loadSafe(".env"), ...process.env };
  const config = findDatabase(process.env, (line) => process.stderr.write(`${line}\n`));
  return await withAccess(config, operator, work);
}

/** Runs the program to its end and sets the exit code. Every failure is one line on standard error. */
export async function runProgram(program: Command): Promise<void> {
  process.stdout.on("error", (error) => {
    process.stderr.write(`error: the output could not be written: ${error.message}\n`);
    process.exitCode = exitCodes.failed;
  });
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said what is wrong, or has printed the help that was asked for.
      process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
      return;
    }
    process.stderr.write(`error: ${describeError(error)}\n`);
    process.exitCode = error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
  }
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function findOperator(): string {
  const { SUDO_USER, USER } = process.env;
  return SUDO_USER || USER || userInfo().username;
}

function readOperator(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("It must be a name.");
  return value;
}
