import {
  type RunningStack,
  type RunStackOptions,
  runStack as run,
  runProgram,
} from "../../bench/run-stack.ts";
import { makeSmallSample } from "./small-sample.ts";

export { freePorts, type RunningStack } from "../../bench/run-stack.ts";

/** Runs a program of the project's `scripts`, and collects its output. */
export const runScript = (script: string, args: string[], env: Record<string, string>) =>
  runProgram(script, args, { PATH: process.env.PATH, ...env });

/**
 * GATEWAY=kong runs the suites on the installed Kong, POSTGREST_BIN on another PostgREST. Only these variables, and those that
 * Kong itself needs, are passed on.
 */
function choosePrograms(): NodeJS.ProcessEnv {
  const names = /^(PATH|POSTGREST_BIN|GATEWAY|KONG_\w+|(LUA|RESTY|OPENRESTY)_\w+|LD_LIBRARY_PATH|HOME)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
}

/** Runs `npm start` in a directory of its own until it serves. */
export const runStack = (options: RunStackOptions = {}): Promise<RunningStack> =>
  run({ ...options, env: { ...choosePrograms(), ...options.env } });

/** Runs a stack for one file, with a small sample. */
export async function runSeparateStack(env: Record<string, string> = {}): Promise<RunningStack> {
  return await runStack({ args: ["--data", await makeSmallSample()], env });
}
