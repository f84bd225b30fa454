import { runRefreshProgram } from "../../../../scripts/refresh/refresh-program.ts";
import { runHere } from "../../../support/run-here.ts";

/** Runs `npm run refresh` in this process. */
export async function refreshHere(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const { code, stdout, stderr } = await runHere(runRefreshProgram, args, { env });
  return { code, output: stderr + stdout };
}
