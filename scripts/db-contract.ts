import { runContract } from "./deploy/contract-program.ts";

await runContract(process);
