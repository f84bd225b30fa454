import { Command } from "commander";
import { dotenv } from "zx";
import { readLocalStorageConfig } from "../report-service/config.ts";
import { startLocalStorage } from "../report-service/local-storage.ts";
import { createLogger } from "../report-service/quiet-logging.ts";
import { runUntilSignal } from "../service/run-until-signal.ts";

const name = "local-storage";

new Command(name)
  .description("Serves the PDFs in a directory to whoever holds a signed address. Ctrl-C stops it.")
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Environment (or .env); * may also stand in a file that <NAME>_FILE names:
  STORAGE_HOST, STORAGE_PORT   where it listens (127.0.0.1, 8002; port 0 takes any free one)
  STORAGE_DIRECTORY            holds <report_id>.pdf for each report
  STORAGE_SIGNING_SECRET *     what it shares with the report service, 32 characters or more

Exit status: 0 stopped by a signal, 1 could not be started.`,
  )
  .parse();

await runUntilSignal(name, () => {
  const config = readLocalStorageConfig({ ...dotenv.loadSafe(".env"), ...process.env });
  return startLocalStorage({ ...config, logger: createLogger({ name }) });
});
