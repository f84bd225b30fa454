import { runAgreements } from "./access/agreements.ts";

await runAgreements(process);
