import { setTimeout as sleep } from "node:timers/promises";
import { readCpuTime, readEndedTime } from "../test/support/read-cpu-time.ts";
import { runProgram } from "../test/support/run-stack.ts";
import type { BenchStack } from "./bench-stack.ts";
import { ask } from "./measure.ts";
import type { Figure } from "./results.ts";

const section = "Refresh";

/** Measures a refresh from source files, while two readers send requests to the gateway. */
export async function measureRefresh(stack: BenchStack, source: string): Promise<Figure[]> {
  const waits = { loading: 0, publishing: 0 };
  let failed = 0;
  let moment: keyof typeof waits = "loading";
  let isOver = false;
  const read = async () => {
    const url = `${stack.facts.base_url}/general?select=report_id,auditee_name&limit=50`;
    for (; !isOver; await sleep(10)) {
      const start = performance.now();
      await ask(url, { "x-api-key": stack.facts.keys.individual }).catch(() => {
        failed += 1;
      });
      waits[moment] = Math.max(waits[moment], performance.now() - start);
    }
  };
  const reading = Promise.all([read(), read()]);
  const args = ["--from", source, "--accept-shrink", "--accept-growth", "--force"];
  const readTimes = () => ({ PostgreSQL: readCpuTime(stack.pid).PostgreSQL, command: readEndedTime() });
  const before = readTimes();
  const start = performance.now();
  const begun: Record<string, number> = {};
  const refresh = runProgram("refresh.ts", args, {
    ...process.env,
    STACK_DIRECTORY: stack.directory,
  });
  refresh.child.stderr.on("data", (chunk: Buffer) => {
    process.stderr.write(chunk);
    if (chunk.includes("Publishing")) moment = "publishing";
    for (const [, step = ""] of chunk.toString().matchAll(/^(\w+).* \.\.\.$/gm)) {
      begun[step] = (performance.now() - start) / 1000;
    }
  });
  const code = await refresh.exited;
  const seconds = (performance.now() - start) / 1000;
  const after = readTimes();
  isOver = true;
  await reading;
  if (code !== 0) throw new Error(`The refresh ended with exit code ${code}:\n${refresh.output()}`);
  const step = (arm: string, value: number, quantity: string): Figure => ({ section, arm, quantity, value });
  return [
    step("the whole refresh", seconds, "seconds"),
    step("the whole refresh", (after.PostgreSQL - before.PostgreSQL) / 1000, "PostgreSQL, CPU s"),
    step("the whole refresh", (after.command - before.command) / 1000, "command, CPU s"),
    ...Object.entries(begun).map(([name, at]) => step(`${name} begins after`, at, "seconds")),
    step("longest wait of a reader while rows are loaded", waits.loading, "ms"),
    step("longest wait of a reader from the publication on", waits.publishing, "ms"),
    step("readers' failed requests", failed, "requests"),
  ];
}
