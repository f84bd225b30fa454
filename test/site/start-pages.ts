import { pino } from "pino";
import type { RunningApp } from "../../shared/web/start-app.ts";
import { readSiteConfig } from "../../site/config.ts";
import { prepareSite } from "../../site/prepare-site.ts";
import { readSiteAppConfig, startSite } from "../../site/start-site.ts";
import { serviceDatabaseUrl } from "../report-service/parts.ts";

/** Starts the pages alone, as the role site of a database. They believe X-Forwarded-For. */
export async function startPages(databaseUrl: string): Promise<RunningApp> {
  const variables = {
    APP_PORT: "0",
    TRUSTED_IPS: "127.0.0.1",
    SITE_DATABASE_URL: serviceDatabaseUrl(databaseUrl, undefined, "site"),
  };
  return startSite({
    ...readSiteAppConfig(variables),
    addSite: await prepareSite({ pages: readSiteConfig({ API_URL: "https://api.example.gov" }) }),
    logger: pino({ level: "silent" }),
  });
}
