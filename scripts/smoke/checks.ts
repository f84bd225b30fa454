import type { Contract } from "../deploy/contract.ts";
import { ask, type Check, type Deployment, expectStatus, type SkippedCheck } from "./ask.ts";
import { checkSuppression } from "./check-suppression.ts";

const accessPath = "/rpc/request_file_access";
const requestFileAccess = (schema: string | undefined, reportId: string): RequestInit => ({
  method: "POST",
  headers: { ...(schema && { "content-profile": schema }), "content-type": "application/json" },
  body: JSON.stringify({ report_id: reportId }),
});
const unknownReport = "2023-06-GSAFAC-9999999999";

const download = (appUrl: string, accessUuid: string) =>
  new URL(`/dissemination/report/pdf/ota/${accessUuid}`, appUrl).href;

/** Whether the API refuses reads because no data set has been published yet. */
export async function lacksDataSet(deployment: Deployment): Promise<boolean> {
  const { status, json } = await ask(deployment, "/general?limit=1", deployment.key);
  return status === 503 && json?.code === "no_data_set";
}

const isAdmin = ({ schema }: Contract) => schema.startsWith("admin_");

/** The versions that issue tokens. Undefined is the default version, which clients get if they name none. */
const listAccessSchemas = (contracts: Contract[]) => [
  undefined,
  ...contracts.flatMap(({ schema, functions }) =>
    "request_file_access(report_id text)" in functions ? [schema] : [],
  ),
];
const nameSchema = (schema = "the default version") => schema;

/**
 * Lists the checks that need no data set.
 *
 * @param contracts the contracts of the versions that this checkout deploys
 */
export function listBasicChecks(deployment: Deployment, contracts: Contract[]): Check[] {
  const { appUrl } = deployment;
  return [
    checkVersions(deployment, contracts),
    ...checkStatuses(deployment, [
      ["no key", "/general?limit=1", 401],
      ["a write", "/general", 405, deployment.key, { method: "POST", body: "{}" }],
    ]),
    ...listAccessSchemas(contracts).map((schema) => checkRefusedAccess(deployment, schema)),
    checkDescription(deployment),
    ...(appUrl === undefined ? [] : [checkPages(deployment, appUrl)]),
  ];
}

/** Lists the other checks: what every client relies on, and the three steps to a suppressed PDF if there is a Tribal key. */
export function listDataChecks(deployment: Deployment, contracts: Contract[]): Check[] {
  const { appUrl, key, tribalKey } = deployment;
  const served = contracts.filter((contract) => !isAdmin(contract));
  return [
    ...checkStatuses(deployment, [
      ["an unknown key", "/general?limit=1", 401, "no such key"],
      ["an unknown table", "/no_such_table", 404, key],
      ["a report that does not exist", `/general?report_id=eq.${unknownReport}`, 404, key],
      ["an embedded table", "/federal_awards?select=report_id,general(auditee_name)&limit=1", 200, key],
    ]),
    ...served.flatMap((contract) => checkTables(deployment, contract)),
    ...served.map((contract) => checkSuppression(deployment, contract)),
    checkEtag(deployment),
    ...(appUrl === undefined ? [] : checkDownloads(deployment, appUrl)),
    ...(appUrl === undefined || tribalKey === undefined
      ? []
      : listAccessSchemas(contracts).map(
          (schema): Check => [
            `the three steps to a suppressed PDF, with ${nameSchema(schema)}`,
            () => walk(deployment, appUrl, tribalKey, schema),
          ],
        )),
  ];
}

/** Checks that the server serves the versions that this checkout deploys: it lists them if a request names another one. */
function checkVersions(deployment: Deployment, contracts: Contract[]): Check {
  const other = "api_v0";
  return [
    "the server serves the versions in db/contracts",
    async () => {
      const answer = await ask(deployment, "/general", deployment.key, {
        headers: { "accept-profile": other },
      });
      if (answer.status !== 406) return expectStatus(answer, 406);
      const listed = new Set(answer.text.match(/\b(admin_)?api_v\d+(_\d+)*\b/g));
      listed.delete(other);
      const served = [...listed].sort().join(", ");
      const expected = contracts.map(({ schema }) => schema).sort();
      return served === expected.join(", ") ? undefined : `it serves ${served}`;
    },
  ];
}

function checkStatuses(
  deployment: Deployment,
  requests: [name: string, path: string, status: number, key?: string, init?: RequestInit][],
): Check[] {
  return requests.map(([name, path, status, ownKey, init]) => [
    `${name} gets ${status}`,
    async () => expectStatus(await ask(deployment, path, ownKey, init), status),
  ]);
}

function checkRefusedAccess(deployment: Deployment, schema: string | undefined): Check {
  const { key, tribalKey } = deployment;
  return [
    `file access without a Tribal key gets 401, with ${nameSchema(schema)}`,
    async () => {
      if (key === tribalKey) return { notTried: "both keys are the same" };
      const init = requestFileAccess(schema, unknownReport);
      return expectStatus(await ask(deployment, accessPath, key, init), 401);
    },
  ];
}

/** Without a key, the report service must not hand out a suppressed report's PDF or accept an unknown token. */
function checkDownloads(deployment: Deployment, appUrl: string): Check[] {
  const get = async (target: string) => expectStatus(await ask(deployment, target, undefined), 404);
  return [
    ["an unknown download gets 404", () => get(download(appUrl, "00000000-0000-4000-8000-000000000000"))],
    [
      "the public PDF of a suppressed report gets 404",
      async () => {
        const reportId = await findSuppressedReport(deployment, deployment.key);
        if (typeof reportId === "object") return reportId;
        return await get(new URL(`/dissemination/report/pdf/${reportId}`, appUrl).href);
      },
    ],
  ];
}

/** Finds the ID of a suppressed report, which every key may see. */
async function findSuppressedReport(deployment: Deployment, key: string): Promise<string | SkippedCheck> {
  const { json, text } = await ask(deployment, "/general?is_public=eq.false&select=report_id&limit=1", key);
  if (!Array.isArray(json)) throw new Error(text.slice(0, 120));
  return json[0]?.report_id ?? { notTried: "there is no suppressed report" };
}

/** Checks that each table of a version serves the columns of its contract, in order. */
function checkTables(deployment: Deployment, { schema, views }: Contract): Check[] {
  return Object.entries(views).map(([view, { columns }]) => [
    `${schema}.${view} has its columns`,
    async () => {
      const headers = { "accept-profile": schema, accept: "text/csv" };
      const answer = await ask(deployment, `/${view}?limit=1`, deployment.key, { headers });
      if (answer.status !== 200) return expectStatus(answer, 200);
      // CSV without rows has no header line.
      const header = answer.text.split("\n")[0] ?? "";
      const wanted = columns.map(({ name }) => name).join(",");
      return header === "" || header === wanted ? undefined : `columns ${header}`;
    },
  ]);
}

function checkEtag(deployment: Deployment): Check {
  const { key } = deployment;
  return [
    "the ETag gets 304 as If-None-Match, and a stale one 412 as If-Match",
    async () => {
      const page = "/general?select=report_id&limit=1";
      const etag = (await ask(deployment, page, key)).headers.get("etag") ?? "";
      const same = await ask(deployment, page, key, { headers: { "if-none-match": etag } });
      const stale = await ask(deployment, page, key, { headers: { "if-match": '"stale"' } });
      return expectStatus(same, 304) ?? expectStatus(stale, 412);
    },
  ];
}

function checkDescription(deployment: Deployment): Check {
  return [
    "the description of the API lists the tables",
    async () => {
      const { json } = await ask(deployment, "/", deployment.key);
      return json?.paths?.["/general"] === undefined ? "no /general in it" : undefined;
    },
  ];
}

/** Checks that the pages know the tables, which the report service reads with rights of its own. */
function checkPages(deployment: Deployment, appUrl: string): Check {
  return [
    "the app's OpenAPI document lists the tables",
    async () => {
      const { status, json } = await ask(deployment, new URL("/openapi.json", appUrl).href, undefined);
      if (status === 404) return { notTried: "the app serves no pages" };
      return json?.paths?.["/general"] === undefined ? `status ${status}, no /general in it` : undefined;
    },
  ];
}

async function walk(deployment: Deployment, appUrl: string, key: string, schema: string | undefined) {
  const reportId = await findSuppressedReport(deployment, key);
  if (typeof reportId === "object") return reportId;
  const granted = await ask(deployment, accessPath, key, requestFileAccess(schema, reportId));
  if (granted.status !== 200) return expectStatus(granted, 200);
  const address = download(appUrl, granted.json.access_uuid);
  const redirect = await ask(deployment, address, undefined);
  if (redirect.status !== 302) return expectStatus(redirect, 302);
  const signed = new URL(redirect.headers.get("location") ?? "", appUrl);
  const file = await ask(deployment, signed.href, undefined);
  if (!file.text.startsWith("%PDF-")) return `not a PDF: ${file.status}`;
  return expectStatus(await ask(deployment, address, undefined), 404);
}
