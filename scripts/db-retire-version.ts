import { runRetireVersion } from "./deploy/retire-version-program.ts";

await runRetireVersion(process);
