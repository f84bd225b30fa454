import { Command } from "commander";
import { dotenv } from "zx";
import { readReportServiceConfig } from "../report-service/config.ts";
import { startReportService } from "../report-service/start-report-service.ts";
import { runUntilSignal } from "../shared/run-until-signal.ts";
import { createLogger } from "../shared/web/quiet-logging.ts";
import { readSiteConfig } from "../site/config.ts";
import { prepareSite } from "../site/prepare-site.ts";
import { readPublicDataConfig } from "../site/public-data/config.ts";

const name = "report-service";

const { tokensOnly } = new Command(name)
  .description(
    "Redeems one-time tokens and redirects to the reports' PDFs, serves the web pages, and records when API keys were used. Ctrl-C stops it.",
  )
  .option(
    "--tokens-only",
    "serve no pages and no bulk files: scripts/site.ts serves them in a process of its own",
  )
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Environment (or .env), defaults in parentheses; for variables with *, <NAME>_FILE can name a file with the value:
  APP_HOST, APP_PORT                   where it listens (127.0.0.1, 8001; port 0 takes any free one)
  REPORT_SERVICE_DATABASE_URL *        URL of the database, with the login of the role report_service; or PGHOST, …
  REPORT_SERVICE_DATABASE_PASSWORD *   the role's password, if not in the URL
  APP_METRICS_HOST (127.0.0.1), APP_METRICS_PORT
                                       where /metrics is served for Prometheus, and where the gateway says at /used-keys
                                       which keys are used; neither if no port is set
The PDFs:
  REPORTS_DIRECTORY                    holds <report_id>.pdf for each report; this service serves them, and its
                                       signed URLs expire when it restarts
or S3:
  S3_BUCKET, S3_REGION                 the bucket
  S3_KEY_PREFIX                        comes before <report_id>.pdf (reports/)
  S3_ENDPOINT                          the S3 API, if it is not AWS
  S3_PUBLIC_ENDPOINT                   the S3 API's URL for clients, if it differs. If clients cannot reach S3: the URL of
                                       this service, which then relays downloads (needs S3_ENDPOINT, and
                                       S3_FORCE_PATH_STYLE=true)
  S3_FORCE_PATH_STYLE                  whether the bucket is in the URL's path: true or false (false)
  AWS_ACCESS_KEY_ID *, AWS_SECRET_ACCESS_KEY *, AWS_SESSION_TOKEN *
                                       if not set, the AWS standard chain: profile, container, instance
Bulk files at /public-data/, if PUBLIC_DATA is set:
  PUBLIC_DATA                          the directory, or s3://bucket/prefix, that the refresh writes them to
Client IPs, for the limits of public reports (/dissemination/report/pdf/<report_id>) and bulk files:
  TRUSTED_IPS                          load balancers whose X-Forwarded-For is trusted, separated by commas
Pages for people at /, if API_URL is set:
  API_URL                              the API's URL for browsers
  ENVIRONMENT                          production, staging, development or preview: the pages show its refresh schedule
  CONTACT                              where to get keys and ask questions: a mailto: or https: address
  SECURITY_CONTACT                     the same, for /.well-known/security.txt (security@<the API's host>)

/healthz: 200 if the service runs. /readyz: 200 if the database and storage also answer, else 503.
Exit status: 0 stopped by a signal, 1 could not be started.`,
  )
  .parse()
  .opts<{ tokensOnly?: true }>();

await runUntilSignal(name, async () => {
  const environment = { ...dotenv.loadSafe(".env"), ...process.env };
  const config = readReportServiceConfig(environment);
  const addSite = tokensOnly
    ? undefined
    : await prepareSite({
        pages: readSiteConfig(environment),
        publicData: readPublicDataConfig(environment),
      });
  return startReportService({ ...config, addSite, logger: createLogger({ name }) });
});
