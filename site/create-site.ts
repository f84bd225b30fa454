import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Pool } from "pg";
import { type BuiltAssets, buildAssets } from "./build-assets.ts";
import type { ReadManifest } from "./bulk-files.ts";
import type { SiteConfig } from "./config.ts";
import { describeAppUrl } from "./describe-app-url.ts";
import { describeAsset } from "./describe-asset.ts";
import { serveOpenApi } from "./openapi/serve-openapi.ts";
import type { PageContext } from "./page-context.ts";
import { ExplorerPage } from "./pages/explorer.tsx";
import { FilesPage } from "./pages/files.tsx";
import { HomePage } from "./pages/home.tsx";
import { ProblemPage } from "./pages/problem.tsx";
import { renderPage, renderReference } from "./render-page.ts";
import { writeSecurityTxt } from "./security-txt.ts";
import { sendBody } from "./send-body.ts";
import { sendProblemPages } from "./send-problem-pages.ts";
import { createFactsReader } from "./service-facts.ts";
import { writeTotals } from "./totals.ts";

const kept = "public, max-age=31536000, immutable";

export interface SiteParts {
  pool: Pool;
  publicFiles: { readManifest: ReadManifest } | undefined;
}

/**
 * Bundles the site's scripts and styles. Returns a function that adds the site to an app: `/`, `/reference`, `/explorer`,
 * `/files`, `/openapi.json`, their assets, and `/.well-known/security.txt`.
 */
export async function createSite(
  config: SiteConfig,
): Promise<(app: FastifyInstance, parts: SiteParts) => void> {
  const assets = await buildAssets();
  return (app, parts) => {
    serveOpenApi(app, { pool: parts.pool, config });
    addPages(app, { ...parts, config, assets });
  };
}

function addPages(
  app: FastifyInstance,
  { pool, publicFiles, config, assets }: SiteParts & { config: SiteConfig; assets: BuiltAssets },
): void {
  const hasPublicData = publicFiles !== undefined;
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

  const describeContext = async (request: FastifyRequest): Promise<PageContext> => {
    const facts = await readFacts();
    return {
      config,
      facts,
      appUrl: describeAppUrl(config.apiUrl, request.headers.host),
      hasPublicData,
      locate: assets.locate,
      asked: request.query as Record<string, unknown>,
      description: facts && describeAsset(facts.api).path,
    };
  };
  const pages: Record<string, (context: PageContext) => string | Buffer | Promise<string>> = {
    "/": (context) => renderPage(HomePage(context)),
    "/reference": renderReference,
    "/explorer": (context) => renderPage(ExplorerPage(context)),
    ...(publicFiles && {
      "/files": async (context) =>
        renderPage(FilesPage(context, (await publicFiles.readManifest())?.manifest)),
    }),
  };
  for (const [url, write] of Object.entries(pages)) {
    answer(url, async (request, reply) => {
      const body = await write(await describeContext(request));
      reply.headers(pageHeaders);
      return sendBody(request, reply, { body, type: "text/html; charset=utf-8" });
    });
  }
  const { "cache-control": _kept, ...problemHeaders } = pageHeaders;
  sendProblemPages(
    app,
    async (request, problem) => renderPage(ProblemPage(await describeContext(request), problem)),
    problemHeaders,
  );
  answer("/assets/:name", async (request, reply) => {
    const path = `/assets/${(request.params as { name: string }).name}`;
    const file = assets.files.get(path);
    if (file !== undefined) return sendBody(request, reply.header("cache-control", kept), file);
    const facts = /^\/assets\/api-[0-9A-F]{8}\.json$/.test(path) ? await readFacts() : undefined;
    if (facts === undefined) return reply.callNotFound();
    // A page of a moment ago, or of another process, may name another: it gets what is known here, and keeps it not.
    const { path: current, body } = describeAsset(facts.api);
    reply.header("cache-control", path === current ? kept : "no-cache");
    return sendBody(request, reply, { body, type: "application/json; charset=utf-8" });
  });
  for (const table of ["totals_by_state", "totals_by_agency"] as const) {
    answer(`/${table}.csv`, async (request, reply) => {
      const facts = await readFacts();
      if (!facts?.totals) return reply.callNotFound();
      reply.header("cache-control", "public, no-cache");
      return sendBody(request, reply, {
        body: writeTotals(facts.totals, table),
        type: "text/csv; charset=utf-8",
      });
    });
  }
  answer("/.well-known/security.txt", (request, reply) => {
    reply.header("cache-control", "public, max-age=86400");
    const body = writeSecurityTxt(config.securityContact);
    return sendBody(request, reply, { body, type: "text/plain; charset=utf-8" });
  });
}
