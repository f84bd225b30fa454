import type { BuiltAssets } from "./build-assets.ts";
import type { SiteConfig } from "./config.ts";
import type { ServiceFacts } from "./service-facts.ts";

/** What every page is rendered from. */
export interface PageContext {
  config: SiteConfig;
  facts: ServiceFacts | undefined;
  /** The site's public URL, with no slash at the end. */
  appUrl: string;
  /** Whether bulk files are served. */
  hasPublicData: boolean;
  locate: BuiltAssets["locate"];
  /** The parameters of the query string. */
  asked: Readonly<Record<string, unknown>>;
}

/** The context of a page that needs the service's facts. */
export interface FactsContext extends PageContext {
  facts: ServiceFacts;
}
