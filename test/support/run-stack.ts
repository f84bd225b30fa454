import {
  type RunningStack,
  type RunStackOptions,
  runStack as run,
  runProgram,
} from "../../bench/run-stack.ts";
import { makeSmallSample } from "./small-sample.ts";

export { freePorts, type RunningStack } from "../../bench/run-stack.ts";

/** Runs a program in `scripts` and collects its output. Its environment is PATH and `env`. */
export const runScript = (script: string, args: string[], env: Record<string, string>) =>
  runProgram(script, args, { PATH: process.env.PATH, ...env });

/**
 * Returns the part of this process's environment that stacks get: GATEWAY (set it to kong to test the installed Kong),
 * POSTGREST_BIN (another PostgREST to test), and the variables that Kong itself needs.
 */
function choosePrograms(): NodeJS.ProcessEnv {
  const names = /^(PATH|POSTGREST_BIN|GATEWAY|KONG_\w+|(LUA|RESTY|OPENRESTY)_\w+|LD_LIBRARY_PATH|HOME)$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.test(name)));
}

/** Runs `npm start` in its own directory. Resolves when it serves and has written its bulk files. */
export const runStack = (options: RunStackOptions = {}): Promise<RunningStack> =>
  run({ ...options, env: { ...choosePrograms(), ...options.env } });

/** Runs a stack with a small sample, for one test file. */
export async function runSeparateStack(env: Record<string, string> = {}): Promise<RunningStack> {
  return await runStack({ args: ["--data", await makeSmallSample()], env });
}
