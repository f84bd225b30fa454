import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Pool } from "pg";
import type { VNode } from "preact";
import { render } from "preact-render-to-string";
import type { BuiltAssets } from "./build-assets.ts";
import type { PageContext, SiteConfig } from "./page-context.ts";
import { ExplorerPage } from "./pages/explorer.tsx";
import { HomePage } from "./pages/home.tsx";
import { ReferencePage } from "./pages/reference.tsx";
import { writeSecurityTxt } from "./security-txt.ts";
import { sendBody } from "./send-body.ts";
import { createFactsReader } from "./service-facts.ts";

/** Serves the pages for people: `/`, `/reference`, `/explorer`, their assets, and `/.well-known/security.txt`. */
export function registerSite(
  app: FastifyInstance,
  {
    pool,
    config,
    assets,
    hasPublicData,
  }: { pool: Pool; config: SiteConfig; assets: BuiltAssets; hasPublicData: boolean },
): void {
  const readFacts = createFactsReader(pool, (err) => app.log.warn({ err }, "no facts for the pages"));
  const { origin } = new URL(config.apiUrl);
  const pageHeaders = {
    "cache-control": "public, no-cache",
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      `connect-src 'self' ${origin}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "cross-origin-opener-policy": "same-origin",
  };
  const answer = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) =>
    app.route({ method: ["GET", "HEAD"], url, handler });

  const pages: Record<string, (context: PageContext) => VNode> = {
    "/": HomePage,
    "/reference": ReferencePage,
    "/explorer": ExplorerPage,
  };
  for (const [url, page] of Object.entries(pages)) {
    answer(url, async (request, reply) => {
      const facts = await readFacts();
      const appUrl = describeAppUrl(config.apiUrl, request.headers.host);
      const body = render(page({ config, facts, appUrl, hasPublicData, locate: assets.locate }));
      reply.headers(pageHeaders);
      return sendBody(request, reply, { body: `<!doctype html>${body}`, type: "text/html; charset=utf-8" });
    });
  }
  answer("/assets/:name", (request, reply) => {
    const file = assets.files.get(`/assets/${(request.params as { name: string }).name}`);
    if (file === undefined) return reply.callNotFound();
    reply.header("cache-control", "public, max-age=31536000, immutable");
    return sendBody(request, reply, file);
  });
  answer("/.well-known/security.txt", (request, reply) => {
    reply.header("cache-control", "public, max-age=86400");
    const body = writeSecurityTxt(config.securityContact);
    return sendBody(request, reply, { body, type: "text/plain; charset=utf-8" });
  });
}

/** What ends TLS for the API does so for this app: its scheme is the API's. The host is the one that was asked for. */
function describeAppUrl(apiUrl: string, host: string | undefined): string {
  const isSane = host !== undefined && /^([\w.-]+|\[[0-9a-f:.]+\])(:\d+)?$/i.test(host);
  return `${new URL(apiUrl).protocol}//${isSane ? host : "localhost"}`;
}
