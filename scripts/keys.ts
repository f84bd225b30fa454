import { runKeys } from "./access/keys.ts";

await runKeys(process);
