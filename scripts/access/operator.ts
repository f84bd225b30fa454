import { userInfo } from "node:os";
import { InvalidArgumentError } from "commander";

/** The person who runs a command, for the audit log: the shell's user, also under sudo. */
export function findOperator(env: NodeJS.ProcessEnv): string {
  return env.SUDO_USER || env.USER || userInfo().username;
}

/** Reads the option --operator. */
export function readOperator(value: string): string {
  if (value.trim() === "") throw new InvalidArgumentError("Enter your name.");
  return value;
}
