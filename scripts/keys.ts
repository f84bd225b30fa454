import { runKeys } from "./access/keys-program.ts";

await runKeys(process);
