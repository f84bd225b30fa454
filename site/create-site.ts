import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Pool } from "pg";
import { readRateLimits } from "../shared/read-rate-limits.ts";
import { allowAnyOrigin } from "../shared/web/any-origin.ts";
import { DatabaseUnavailable } from "../shared/web/database.ts";
import { sendError } from "../shared/web/error-responses.ts";
import { createAuditeeReader } from "./auditee.ts";
import { type BuiltAssets, buildAssets } from "./build-assets.ts";
import {
  createChangesReader,
  createFilteredChangesReader,
  type FoundChanges,
  type ReadFilteredChanges,
} from "./changes.ts";
import { type ChangesFilter, readChangesFilter, readPublications } from "./changes-filter.ts";
import { createCheck } from "./check/check-reports.ts";
import { nameList } from "./check/read-list.ts";
import { serveCheck } from "./check/serve-check.ts";
import type { SiteConfig } from "./config.ts";
import { createFindingsReader } from "./findings/find-findings.ts";
import { serveFindings } from "./findings/serve-findings.ts";
import { writeUtcDate } from "./format.ts";
import type { LiveDataSet } from "./keep-answer.ts";
import { describeOpenApi } from "./openapi/describe-openapi.ts";
import type { FactsContext, PageContext } from "./page-context.ts";
import type { AddRoute, PageRoutes } from "./page-routes.ts";
import { changeColumns, chooseChanges, listChangeRows, writeChanges, writeFeed } from "./pages/changes.ts";
import { writeExplorer } from "./pages/explorer.ts";
import { type Manifest, writeFiles } from "./pages/files.ts";
import { writeHome } from "./pages/home.ts";
import { feedPath } from "./pages/layout.ts";
import { writeProblem } from "./pages/problem.ts";
import { listProgramYears, readAskedProgramYears, writeProgramYears } from "./pages/program-years.ts";
import { writeReference } from "./pages/reference.ts";
import { writeTotalChart } from "./pages/total-charts.ts";
import { hasUnknownYear, listTotals, writeTotals } from "./pages/totals.ts";
import {
  type AskedPrograms,
  type AskedProgramYears,
  createProgramsReader,
  createProgramYearsReader,
  type ReadPrograms,
  type ReadProgramYears,
} from "./programs.ts";
import { refuseUnread } from "./read-filters.ts";
import { createReportReader } from "./report.ts";
import { identifyVisitor, limitQueries } from "./search/limit-queries.ts";
import { createSearch } from "./search/search-reports.ts";
import { serveSearch } from "./search/serve-search.ts";
import { sendBody } from "./send-body.ts";
import { sendSpreadsheet } from "./send-csv.ts";
import { sendSvg } from "./send-svg.ts";
import { serveAuditees } from "./serve-auditees.ts";
import { serveReports } from "./serve-reports.ts";
import { createFactsReader } from "./service-facts.ts";
import { noneMissing } from "./successors.ts";

const kept = "public, max-age=31536000, immutable";
const securityTxtDays = 180;

interface SiteParts {
  pool: Pool;
  /** The bulk files, if they are served. The manifest is undefined while there are none; reading it may throw like `whileOn`. */
  publicFiles: { readManifest: () => Promise<{ manifest: Manifest } | undefined> } | undefined;
  /** Resolves to the ID of the live data set. Throws while the service is switched off or has no data set. */
  whileOn: () => Promise<string>;
}

/** Bundles the scripts and styles. Returns a function that adds the pages and `/openapi.json` to an app. */
export async function createSite(
  config: SiteConfig,
): Promise<(app: FastifyInstance, parts: SiteParts) => void> {
  const assets = await buildAssets();
  return (app, parts) => addSite(app, { ...parts, config, assets });
}

function addSite(
  app: FastifyInstance,
  { pool, publicFiles, config, assets, ...parts }: SiteParts & { config: SiteConfig; assets: BuiltAssets },
): void {
  const warn = (err: unknown) => app.log.warn({ err }, "the pages lack facts, because a query failed");
  const live: LiveDataSet = { id: undefined };
  const whileOn = async () => {
    live.id = await parts.whileOn();
    return live.id;
  };
  const readFacts = createFactsReader(pool, warn, live);
  const securityHeaders = describeSecurity(config);
  const site: Site = {
    config,
    assets,
    publicFiles,
    whileOn,
    securityHeaders,
    sendPage: (request, reply, body, { status = 200, isPrivate = false } = {}) => {
      const cacheControl = `${isPrivate ? "private" : "public"}, no-cache`;
      reply.code(status).headers({ ...securityHeaders, "cache-control": cacheControl });
      return sendBody(request, reply, { body, type: "text/html; charset=utf-8" });
    },
    readFacts,
    readChanges: createChangesReader(pool, warn),
    readPrograms: createProgramsReader(pool, warn, live),
    readProgramYears: createProgramYearsReader(pool, warn, live),
    describeContext: async (request, facts = readFacts()) => ({
      config,
      facts: await facts,
      appUrl: describeAppUrl(config, request),
      hasPublicData: publicFiles !== undefined,
      locate: assets.locate,
      asked: request.query as Record<string, unknown>,
    }),
    addRoute: (url, handler) => app.route({ method: ["GET", "HEAD"], url, handler }),
    addOpenRoute: (url, handler) =>
      app.route({ method: ["GET", "HEAD"], url, onRequest: allowAnyOrigin(app, url), handler }),
  };
  addPages(site);
  addTotalFiles(site);
  const query = limitQueries(pool, live);
  addChanges(site, createFilteredChangesReader(query));
  serveSearch(site, createSearch(query));
  serveCheck(app, site, createCheck(query));
  serveFindings(site, createFindingsReader(query));
  serveReports(site, createReportReader(query));
  serveAuditees(site, createAuditeeReader(query));
  addOpenApi(site);
  addAssets(site);
  addSecurityTxt(site);
  addErrorPages(app, site);
}

interface Site extends Omit<SiteParts, "pool">, PageRoutes {
  config: SiteConfig;
  assets: BuiltAssets;
  /** The headers of pages. */
  securityHeaders: Record<string, string>;
  readFacts: ReturnType<typeof createFactsReader>;
  readChanges: ReturnType<typeof createChangesReader>;
  readPrograms: ReadPrograms;
  readProgramYears: ReadProgramYears;
  /** Adds a route whose responses scripts on pages of any site can read. */
  addOpenRoute: AddRoute;
}

const describeSecurity = ({ apiUrl }: SiteConfig) => ({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${new URL(apiUrl).origin}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
});

function addPages(site: Site): void {
  const { publicFiles, whileOn } = site;
  const readPrograms = async (asked: AskedPrograms) => requireAnswer(await site.readPrograms(asked));
  const readProgramYears = async (asked: AskedProgramYears) =>
    requireAnswer(await site.readProgramYears(asked));
  const pages: Record<string, (context: PageContext) => string | Promise<string>> = {
    "/": writeHome,
    "/explorer": (context) => writeExplorer(requireFacts(context)),
    "/totals": (context) => writeTotals(requireFacts(context), readPrograms),
    "/totals/programs": (context) => writeProgramYears(requireFacts(context), readProgramYears),
    "/reference": (context) => writeReference(requireFacts(context)),
    ...(publicFiles && {
      "/files": async (context) => writeFiles(context, (await publicFiles.readManifest())?.manifest),
    }),
  };
  for (const [url, write] of Object.entries(pages)) {
    site.addRoute(url, async (request, reply) => {
      // Before the context, which then has the facts of the same data set.
      if (url.startsWith("/totals")) await whileOn();
      return site.sendPage(request, reply, await write(await site.describeContext(request)));
    });
  }
}

/** Serves what the pages of totals show as files: tables as CSV, and charts as SVG. */
function addTotalFiles(site: Site): void {
  const { whileOn, describeContext } = site;
  site.addRoute("/totals.csv", async (request, reply) => {
    await whileOn();
    const context = requireFacts(await describeContext(request));
    if (hasUnknownYear(context)) return sendError(reply, refuseUnread("totals", "/totals"));
    const listed = await listTotals(context, async (asked) => requireAnswer(await site.readPrograms(asked)));
    return listed === undefined ? reply.callNotFound() : sendSpreadsheet(request, reply, context, listed);
  });
  site.addRoute("/totals/programs.csv", async (request, reply) => {
    await whileOn();
    const context = await describeContext(request);
    const asked = readAskedProgramYears(context.asked);
    if (asked.unread.length > 0) return sendError(reply, refuseUnread("programs", "/totals/programs"));
    const read = async (each: AskedProgramYears) => requireAnswer(await site.readProgramYears(each));
    return sendSpreadsheet(request, reply, context, await listProgramYears(asked, read));
  });
  for (const name of ["expended", "findings"])
    site.addRoute(`/totals/${name}.svg`, async (request, reply) => {
      await whileOn();
      const drawn = writeTotalChart(requireFacts(await describeContext(request)), name);
      return drawn === undefined ? reply.callNotFound() : sendSvg(request, reply, drawn);
    });
}

/** @throws DatabaseUnavailable if the database has never answered */
function requireAnswer<Answer>(answer: Answer | undefined): Answer {
  if (answer === undefined) throw new DatabaseUnavailable("The database has not yet answered.");
  return answer;
}

const requireFacts = (context: PageContext): FactsContext => ({
  ...context,
  facts: requireAnswer(context.facts),
});

/** Serves the changes of all reports, or of those that match a filter, as a page and as a feed. */
function addChanges(site: Site, readFiltered: ReadFilteredChanges): void {
  const { whileOn, readChanges, readFacts, describeContext } = site;
  const read = async (
    request: FastifyRequest,
    reply: FastifyReply,
    filter: ChangesFilter | undefined,
    dataSet: string | undefined,
  ): Promise<FoundChanges> => {
    reply.header("cache-control", `${filter ? "private" : "public"}, no-cache`);
    if (filter !== undefined && filter.search !== "")
      return readFiltered(identifyVisitor(request, reply), filter);
    return { changes: filter ? [] : requireAnswer(await readChanges(dataSet)), missing: noneMissing };
  };
  site.addRoute("/changes", async (request, reply) => {
    const dataSet = (await readFacts())?.data_set ? await whileOn() : undefined;
    const asked = request.query as Record<string, unknown>;
    const filter = readChangesFilter(asked);
    const kept = requireAnswer(await readChanges(dataSet));
    const { changes, missing } = await read(request, reply, filter, dataSet);
    const context = await describeContext(request);
    const body = writeChanges(context, changes, {
      filter,
      missing,
      kept,
      publications: readPublications(asked),
    });
    return site.sendPage(request, reply, body, { isPrivate: filter !== undefined });
  });
  site.addRoute("/changes.csv", async (request, reply) => {
    const dataSet = await whileOn();
    const asked = request.query as Record<string, unknown>;
    const [filter, publications] = [readChangesFilter(asked), readPublications(asked)];
    if ([filter, publications].some((read) => read && read.unread.length > 0))
      return sendError(reply, refuseUnread("changes", "/changes"));
    const { changes } = await read(request, reply, filter, dataSet);
    const context = await describeContext(request);
    const rows = listChangeRows(chooseChanges(changes, publications), context.facts);
    const { state, aln, ids } = filter?.criteria ?? {};
    const { number, since, after } = publications;
    return sendSpreadsheet(request, reply, context, {
      name: [
        "changes",
        state,
        aln,
        ids && nameList(ids),
        number !== undefined && `publication-${number}`,
        since && `since-${since}`,
        after && `after-${after.slice(0, 10)}`,
      ],
      columns: changeColumns,
      rows,
    });
  });
  site.addOpenRoute(feedPath, async (request, reply) => {
    const dataSet = await whileOn();
    const filter = readChangesFilter(request.query as Record<string, unknown>);
    // A feed of other reports than those that were asked for would go unnoticed.
    if (filter && filter.unread.length > 0) return sendError(reply, refuseUnread("changes", "/changes"));
    const { changes, missing } = await read(request, reply, filter, dataSet);
    const body = writeFeed(await describeContext(request), changes, filter, missing);
    return sendBody(request, reply, { body, type: "application/atom+xml; charset=utf-8" });
  });
}

function addOpenApi({ addOpenRoute, readFacts, config }: Site): void {
  addOpenRoute("/openapi.json", async (request, reply) => {
    const facts = requireAnswer(await readFacts());
    const addresses = { ...config, appUrl: describeAppUrl(config, request) };
    const { version } = request.query as { version?: unknown };
    const document = describeOpenApi(facts, addresses, readRateLimits(), version);
    if (document === undefined) return reply.callNotFound();
    reply.header("cache-control", "public, no-cache");
    return sendBody(request, reply, {
      body: JSON.stringify(document),
      type: "application/json; charset=utf-8",
    });
  });
}

function addAssets({ addRoute, readFacts, assets }: Site): void {
  addRoute("/assets/:name", async (request, reply) => {
    const path = `/assets/${(request.params as { name: string }).name}`;
    const file = assets.files.get(path);
    if (file !== undefined) return sendBody(request, reply.header("cache-control", kept), file);
    if (!/^\/assets\/api-[0-9A-F]{8}\.json$/.test(path)) return reply.callNotFound();
    // A page from before an update, or from another process, may name an old file. It gets this one, without caching.
    const { path: current, body } = requireAnswer(await readFacts()).apiFile;
    reply.header("cache-control", path === current ? kept : "no-cache");
    return sendBody(request, reply, { body, type: "application/json; charset=utf-8" });
  });
}

function addSecurityTxt({ addRoute, config }: Site): void {
  addRoute("/.well-known/security.txt", (request, reply) => {
    reply.header("cache-control", "public, max-age=86400");
    const body = writeSecurityTxt(config.securityContact);
    return sendBody(request, reply, { body, type: "text/plain; charset=utf-8" });
  });
}

/** Browsers get errors as pages; programs get them as JSON. */
function addErrorPages(app: FastifyInstance, { securityHeaders, readFacts, describeContext }: Site): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const type = String(reply.getHeader("content-type"));
    if (reply.statusCode < 400 || !type.startsWith("application/json")) return payload;
    if (!["GET", "POST"].includes(request.method) || typeof payload !== "string") return payload;
    const body = JSON.parse(payload);
    if (typeof body.message !== "string") return payload;
    reply.header("vary", "Accept");
    // Browsers list text/html in Accept when they follow a link. Programs that accept anything do not.
    if (!/(^|[,\s])text\/html\s*(,|;|$)/i.test(request.headers.accept ?? "")) return payload;
    reply.headers(securityHeaders).type("text/html; charset=utf-8").removeHeader("content-length");
    // A refusal must not wait for a busy database.
    const context = await describeContext(request, readFacts(false));
    return writeProblem(context, reply.statusCode, body, request.url);
  });
}

/** The request's host, with the scheme of the API's URL, because the same proxy terminates TLS for both. */
function describeAppUrl({ apiUrl }: SiteConfig, { headers: { host } }: FastifyRequest): string {
  const isValid = host !== undefined && /^([\w.-]+|\[[0-9a-f:.]+\])(:\d+)?$/i.test(host);
  return `${new URL(apiUrl).protocol}//${isValid ? host : "localhost"}`;
}

/** Writes `/.well-known/security.txt` (RFC 9116), valid for half a year. */
function writeSecurityTxt(contact: string): string {
  const expires = writeUtcDate(new Date(Date.now() + securityTxtDays * 86_400_000));
  return `Contact: ${contact}\nExpires: ${expires}T00:00:00Z\nPreferred-Languages: en\n`;
}
