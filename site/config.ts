import { z } from "zod";
import { httpUrl, readVariables } from "../shared/read-variables.ts";
import { type EnvironmentName, environments } from "../shared/timetable.ts";

export interface SiteConfig {
  /** The API as clients reach it, with no slash at the end. */
  apiUrl: string;
  /** The environment whose timetable the pages show. If unset, they show no next refresh. */
  environment: EnvironmentName | undefined;
  /** Where people ask for keys: mailto: or https:. */
  contact: string | undefined;
  /** Where people report vulnerabilities: mailto: or https:. */
  securityContact: string;
}

/** A URL at which people can be reached. */
export const contact = z.url({
  protocol: /^(mailto|https)$/,
  error: "should be a mailto: or https: address",
});

/** In production, people must be able to ask for a key. */
export const hasContact = ({ ENVIRONMENT, CONTACT }: { ENVIRONMENT?: unknown; CONTACT?: unknown }) =>
  ENVIRONMENT !== "production" || CONTACT !== undefined;
export const contactIsMissing = {
  path: ["CONTACT"],
  error:
    "should be the mailto: or https: address where people ask for keys, because ENVIRONMENT is production",
};

const variables = z
  .object({
    API_URL: httpUrl("the API's public address, such as https://api.example.gov").optional(),
    ENVIRONMENT: z.enum(environments, `should be ${environments.join(", ")}`).optional(),
    CONTACT: contact.optional(),
    SECURITY_CONTACT: contact.optional(),
  })
  .refine((given) => given.API_URL === undefined || hasContact(given), contactIsMissing);

/**
 * Reads the site's configuration from environment variables. Without API_URL there is no site: returns undefined.
 *
 * @throws Error with one line for each malformed variable
 */
export function readSiteConfig(environment: NodeJS.ProcessEnv): SiteConfig | undefined {
  const set = Object.entries(environment).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  const { API_URL, ENVIRONMENT, CONTACT, SECURITY_CONTACT } = readVariables(
    variables,
    Object.fromEntries(set),
  );
  if (API_URL === undefined) return undefined;
  const { hostname } = new URL(API_URL);
  const domain = /^[\d.]+$/.test(hostname) ? `[${hostname}]` : hostname;
  return {
    apiUrl: API_URL.replace(/\/+$/, ""),
    environment: ENVIRONMENT,
    contact: CONTACT,
    // RFC 2142 reserves this mailbox in every domain.
    securityContact: SECURITY_CONTACT ?? `mailto:security@${domain}`,
  };
}
