/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import type { ClientSettings } from "../client-settings.ts";
import type { PageContext } from "../page-context.ts";
import { quoteShell } from "../request-snippets.ts";
import { Command } from "./layout.tsx";

/** The part of a page that a script fills, what the script has to know, and what there is without a script. */
export function ClientPart({ context, name }: { context: PageContext; name: string }): VNode {
  const { config, facts } = context;
  const settings: ClientSettings = {
    apiUrl: config.apiUrl,
    contact: config.contact,
    versions: (facts?.versions ?? []).map(({ schema, deprecated_at, sunset_at, link }) => ({
      schema,
      deprecatedAt: deprecated_at?.toISOString(),
      sunsetAt: sunset_at?.toISOString(),
      link: link ?? undefined,
    })),
  };
  return (
    <>
      <div id={name} data-settings={JSON.stringify(settings)} />
      <noscript>
        <div class="notice">
          <p>
            This page needs JavaScript. Without it, ask the API for its description, in the OpenAPI format:
          </p>
          <Command
            text={`curl -sS ${quoteShell(`${config.apiUrl}/`)} -H 'x-api-key: DEMO_KEY'`}
            label="Command that asks for the description"
          />
        </div>
      </noscript>
    </>
  );
}
