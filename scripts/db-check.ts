import { runCheck } from "./deploy/check-program.ts";

await runCheck(process);
