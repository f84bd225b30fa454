import type { AddRoutes } from "../shared/web/create-app.ts";
import type { SiteConfig } from "./config.ts";
import { createSite } from "./create-site.ts";
import type { PublicDataConfig } from "./public-data/config.ts";
import { openPublicFiles, requireLive } from "./public-data/public-files.ts";
import { servePublicData } from "./public-data/serve-public-data.ts";

interface SiteOptions {
  /** Absent if there are no pages. */
  pages?: SiteConfig | undefined;
  /** Absent if there are no bulk files. */
  publicData?: PublicDataConfig | undefined;
}

/** Bundles what the pages need. Returns a function that adds the pages and the bulk files to an app. */
export async function prepareSite({ pages, publicData }: SiteOptions): Promise<AddRoutes> {
  const addPages = pages && (await createSite(pages));
  return (app, { pool, whileOn, limit }) => {
    const publicFiles = publicData && requireLive(openPublicFiles(publicData.location, publicData), whileOn);
    if (publicFiles !== undefined) servePublicData(app, publicFiles, [limit]);
    addPages?.(app, { pool, publicFiles, whileOn });
  };
}
