import { runAgreements } from "./access/agreements-program.ts";

await runAgreements(process);
