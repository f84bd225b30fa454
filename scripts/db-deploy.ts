import { runDeploy } from "./deploy/deploy-program.ts";

await runDeploy(process);
