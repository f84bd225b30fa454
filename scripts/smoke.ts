import { runSmoke } from "./smoke/smoke-program.ts";

await runSmoke(process);
