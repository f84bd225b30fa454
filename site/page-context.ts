import type { BuiltAssets } from "./build-assets.ts";
import type { SiteConfig } from "./config.ts";
import type { ServiceFacts } from "./service-facts.ts";

/** What every page is made of. */
export interface PageContext {
  config: SiteConfig;
  facts: ServiceFacts | undefined;
  /** This app as the visitor reaches it. */
  appUrl: string;
  hasPublicData: boolean;
  locate: BuiltAssets["locate"];
  /** The query string: what of a page is to be shown. */
  asked: Readonly<Record<string, unknown>>;
  /** The path of the description that the explorer reads; undefined while the database is away. */
  description: string | undefined;
}
