import type { EnvironmentName } from "../service/timetable.ts";
import type { BuiltAssets } from "./build-assets.ts";
import type { ServiceFacts } from "./service-facts.ts";

export interface SiteConfig {
  /** The API as clients reach it, with no slash at the end. */
  apiUrl: string;
  /** Whose timetable the next refresh follows; without it, nothing is said of one. */
  environment?: EnvironmentName | undefined;
  /** Who gives keys and answers questions: mailto: or https:. */
  contact?: string | undefined;
  /** Who takes reports of vulnerabilities: mailto: or https:. */
  securityContact: string;
}

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
