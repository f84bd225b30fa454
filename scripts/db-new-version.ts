import { runNewVersion } from "./deploy/new-version-program.ts";

await runNewVersion(process);
