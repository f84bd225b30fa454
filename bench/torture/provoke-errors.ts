import { createTally, type Target } from "./part.ts";
import { sendRequest, type WireRequest } from "./send-request.ts";

/** A request at one of the two addresses. */
type Addressed = [origin: string, wire: WireRequest];

/** Puts keys and tokens wherever a client can, and has casts break on suppressed values. Returns how that was answered. */
export async function provokeErrors(target: Target): Promise<string> {
  const key = target.keys.next("individual");
  const token = crypto.randomUUID();
  target.leaks.addSecret(token);
  const statuses = createTally();
  for (const [origin, wire] of [
    ...misplaceInPaths(target, key, token),
    ...misplaceInHeaders(target, key),
    ...breakCasts(target),
  ]) {
    statuses.add((await sendRequest(origin, wire)).status);
  }
  return statuses.toString();
}

const get = (path: string, key: string, ...more: WireRequest["headers"]): WireRequest => ({
  method: "GET",
  path,
  headers: [["x-api-key", key], ...more],
});

const methods = ["GET", "HEAD", "OPTIONS", "POST", "DELETE", "PURGE"];

function misplaceInPaths({ baseUrl, appUrls, keys }: Target, key: string, token: string): Addressed[] {
  const other = keys.next("tribal");
  const ofApi = [
    ...[`/general&api_key=${key}`, `/general/${key}`, `/${key}`, `/rpc/${key}`, `/general%00${key}`],
    ...[`/general;${key}?limit=1`, `/general?api_key=${key}&limit=x`, `/general?limit=1&API_KEY=${key}`],
    ...[
      `/general?${key}=eq.1`,
      `/general?select=${key}`,
      `/general?select=${key}(*)`,
      `/general?order=${key}`,
    ],
    ...[`/general?report_id=eq.${key}`, `/general?audit_year=eq.${key}`, `/general?select=report_id::${key}`],
    ...[`/general?x=${"a".repeat(33_000)}&api_key=${key}`, `/general?api_key=${key}&api_key=${other}`],
    `/dissemination/report/pdf/ota/${token}`,
  ];
  const ofApp = [
    ...[`/dissemination/report/pdf/ota/${token}`, `/dissemination/report/pdf/ota/${token}x`, `/${token}`],
    ...[`/public-data/${key}`, `/?api_key=${key}`, `/reference/${key}`, `/%zz${token}`],
  ];
  return methods.flatMap((method) => [
    ...ofApi.map((path): Addressed => [baseUrl, { ...get(path, key), method }]),
    ...ofApp.map(
      (path): Addressed => [appUrls[0], { ...get(path, key, ["referer", `http://a/${token}`]), method }],
    ),
  ]);
}

function misplaceInHeaders({ baseUrl, appUrls, keys }: Target, key: string): Addressed[] {
  const lines: WireRequest["headers"] = [
    ["x-request-id", key],
    ["x-request-id", `id-${key} ${keys.next("tribal")}`],
    ["referer", `http://a/?api_key=${key}`],
    ["user-agent", key],
    ["x-forwarded-for", key],
    ["x-forwarded-path", `/${key}`],
    ["authorization", `Bearer ${key}`],
    ["accept", key],
    ["accept-profile", key],
    ["prefer", `handling=strict, timezone=${key}`],
    ["if-match", key],
    ["cookie", `key=${key}`],
  ];
  return [
    ...lines.map((line): Addressed => [baseUrl, get("/general?limit=1", key, line)]),
    ...lines.map((line): Addressed => [appUrls[0], get(`/reference?api_key=${key}`, key, line)]),
    [baseUrl, get("/general?limit=1", `${key}x`)],
  ];
}

/** PostgreSQL names the value that it cannot cast. */
function breakCasts({ baseUrl, keys }: Target): Addressed[] {
  const columns = ["auditee_email", "auditee_contact_name", "auditor_email", "auditee_uei", "auditee_ein"];
  const suppressed = "/general?is_public=is.false&order=report_id";
  return columns
    .flatMap((column) => [
      ...["int", "date", "jsonb", "regclass", "bytea"].map(
        (type) => `${suppressed}&select=${column}::${type}`,
      ),
      `${suppressed}&${column}=fts(${column}).x`,
      `${suppressed}&select=${column},federal_awards(federal_program_name::int)`,
    ])
    .map((path): Addressed => [baseUrl, get(path, keys.next("tribal"))]);
}
