import { runDiff } from "./deploy/diff-program.ts";

await runDiff(process);
