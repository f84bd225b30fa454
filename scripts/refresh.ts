import { runRefreshProgram } from "./refresh/refresh-program.ts";

await runRefreshProgram(process);
