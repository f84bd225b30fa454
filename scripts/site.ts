import { Command } from "commander";
import { dotenv } from "zx";
import { runUntilSignal } from "../shared/run-until-signal.ts";
import { createLogger } from "../shared/web/quiet-logging.ts";
import { readSiteConfig } from "../site/config.ts";
import { prepareSite } from "../site/prepare-site.ts";
import { readPublicDataConfig } from "../site/public-data/config.ts";
import { readSiteAppConfig, startSite } from "../site/start-site.ts";

const name = "site";

new Command(name)
  .description(
    "Serves the web pages and the bulk files in a process of their own, as a database role that cannot redeem tokens. Run the report service beside it with --tokens-only. Ctrl-C stops it.",
  )
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Environment (or .env), defaults in parentheses; for variables with *, <NAME>_FILE can name a file with the value:
  SITE_DATABASE_URL *                  URL of the database, with the login of the role site; or PGHOST, …
  SITE_DATABASE_PASSWORD *             the role's password, if not in the URL
The same as for the report service (scripts/report-service.ts --help):
  APP_HOST, APP_PORT, APP_METRICS_HOST, APP_METRICS_PORT, TRUSTED_IPS
  PUBLIC_DATA, S3_REGION, S3_ENDPOINT, S3_FORCE_PATH_STYLE, AWS_ACCESS_KEY_ID *, …
  API_URL, ENVIRONMENT, CONTACT, SECURITY_CONTACT

/healthz: 200 if the site runs. /readyz: 200 if the database also answers, else 503.
Exit status: 0 stopped by a signal, 1 could not be started.`,
  )
  .parse();

await runUntilSignal(name, async () => {
  const environment = { ...dotenv.loadSafe(".env"), ...process.env };
  const config = readSiteAppConfig(environment);
  const pages = readSiteConfig(environment);
  const addSite = await prepareSite({ pages, publicData: readPublicDataConfig(environment) });
  return startSite({ ...config, addSite, logger: createLogger({ name }) });
});
