import { userInfo } from "node:os";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { dotenv } from "zx";
import { readSecretFiles } from "../../service/read-secret-files.ts";
import type { Surroundings } from "../../service/surroundings.ts";
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
  DATABASE_URL      the database, as a member of key_operator or as who deploys; or libpq's PGHOST, PGUSER, PGDATABASE, …
  DATABASE_URL_FILE, PGPASSWORD_FILE
                    files that hold the address or the password
  STACK_DIRECTORY   without these, the database of the stack that runs on this directory is used (.stack)`;

/** A program whose commands all exit as its help says. */
export function createProgram(
  { stdout, stderr }: Surroundings,
  name: string,
  description: string,
  exitStatus: string,
): Command {
  return new Command(`npm run -s ${name} --`)
    .description(description)
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .addHelpText("afterAll", `${environmentHelp}\n\nExit status: ${exitStatus}`);
}

/** Adds a command with the options of every command. */
export function addCommand(
  { env }: Surroundings,
  program: Command,
  usage: string,
  description: string,
): Command {
  return program
    .command(usage)
    .description(description)
    .allowExcessArguments(false)
    .option("--operator <name>", "who does this, for the record", readOperator, findOperator(env))
    .option("--json", "print JSON");
}

/** Runs work on the database that the environment names, in one transaction. */
export async function inDatabase<Result>(
  around: Surroundings,
  { operator }: CommonOptions,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  // Set, since node-postgres reads libpq's variables from the process.
  around.env = readSecretFiles({ ...dotenv.loadSafe(".env"), ...around.env }, ["DATABASE_URL", "PGPASSWORD"]);
  const config = findDatabase(around.env, (line) => around.stderr.write(`${line}\n`));
  return await withAccess(config, operator, work);
}

/** Runs the program to its end and sets the exit code. Every failure is one line on standard error. */
export async function runProgram(around: Surroundings, program: Command): Promise<void> {
  around.stdout.on("error", (error) => {
    around.stderr.write(`error: the output could not be written: ${error.message}\n`);
    around.exitCode = exitCodes.failed;
  });
  try {
    await program.parseAsync(around.argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said what is wrong, or has printed the help that was asked for.
      around.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
      return;
    }
    around.stderr.write(`error: ${describeError(error)}\n`);
    around.exitCode = error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
  }
}

export function print({ stdout }: Surroundings, text: string): void {
  stdout.write(`${text}\n`);
}

function findOperator({ SUDO_USER, USER }: NodeJS.ProcessEnv): string {
  return SUDO_USER || USER || userInfo().username;
}

function readOperator(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("It must be a name.");
  return value;
}
