import type { Contract } from "../deploy/contract.ts";
import { ask, type Check, type Deployment, expectStatus, type NotTried } from "./ask.ts";
import { checkSuppression } from "./check-suppression.ts";

const adminSchema = "admin_api_v1_1_0";
const unknownReport = "2023-06-GSAFAC-9999999999";

const download = (appUrl: string, accessUuid: string) =>
  new URL(`/dissemination/report/pdf/ota/${accessUuid}`, appUrl).href;

/** What every client relies on, and with a Tribal key the way to a suppressed report's PDF. */
export function listChecks(deployment: Deployment, contracts: Contract[]): Check[] {
  const { appUrl, tribalKey } = deployment;
  const served = contracts.filter(({ schema }) => schema.startsWith("api_"));
  const checks = [
    ...checkRefusals(deployment),
    ...served.flatMap((contract) => checkTables(deployment, contract)),
    ...served.map((contract) => checkSuppression(deployment, contract)),
    ...checkReads(deployment),
  ];
  if (appUrl !== undefined) {
    const nowhere = download(appUrl, "00000000-0000-4000-8000-000000000000");
    checks.push([
      "an unknown download gets 404",
      async () => expectStatus(await ask(deployment, nowhere, undefined), 404),
    ]);
    if (tribalKey !== undefined)
      checks.push(["the three steps to a suppressed PDF", () => walk(deployment, appUrl, tribalKey)]);
  }
  return checks;
}

function checkRefusals(deployment: Deployment): Check[] {
  const { key } = deployment;
  return [
    ["no key gets 401", async () => expectStatus(await ask(deployment, "/general?limit=1", undefined), 401)],
    [
      "an unknown key gets 401",
      async () => expectStatus(await ask(deployment, "/general?limit=1", "no such key"), 401),
    ],
    [
      "a write gets 405",
      async () => expectStatus(await ask(deployment, "/general", key, { method: "POST", body: "{}" }), 405),
    ],
    [
      "an unknown version gets 406",
      async () =>
        expectStatus(
          await ask(deployment, "/general", key, { headers: { "accept-profile": "api_v0" } }),
          406,
        ),
    ],
    [
      "an unknown table gets 404",
      async () => expectStatus(await ask(deployment, "/no_such_table", key), 404),
    ],
    [
      "a report that does not exist gets 404",
      async () => expectStatus(await ask(deployment, `/general?report_id=eq.${unknownReport}`, key), 404),
    ],
    [
      "Tribal access is refused to this key with 401",
      async () => {
        if (key === deployment.tribalKey) return undefined;
        const headers = { "content-profile": adminSchema, "content-type": "application/json" };
        const body = JSON.stringify({ report_id: unknownReport });
        return expectStatus(
          await ask(deployment, "/rpc/request_file_access", key, { method: "POST", headers, body }),
          401,
        );
      },
    ],
  ];
}

/** Each table of each version serves the columns of its contract, in order. */
function checkTables(deployment: Deployment, { schema, views }: Contract): Check[] {
  return Object.entries(views).map(([view, { columns }]) => [
    `${schema}.${view} has its columns`,
    async () => {
      const headers = { "accept-profile": schema, accept: "text/csv" };
      const answer = await ask(deployment, `/${view}?limit=1`, deployment.key, { headers });
      if (answer.status !== 200) return expectStatus(answer, 200);
      // CSV of no rows has no header line.
      const header = answer.text.split("\n")[0] ?? "";
      const wanted = columns.map(({ name }) => name).join(",");
      return header === "" || header === wanted ? undefined : `columns ${header}`;
    },
  ]);
}

function checkReads(deployment: Deployment): Check[] {
  const { key } = deployment;
  return [
    [
      "the ETag answers If-None-Match with 304, and a stale If-Match gets 412",
      async () => {
        const page = "/general?select=report_id&limit=1";
        const etag = (await ask(deployment, page, key)).headers.get("etag") ?? "";
        const same = await ask(deployment, page, key, { headers: { "if-none-match": etag } });
        const stale = await ask(deployment, page, key, { headers: { "if-match": '"stale"' } });
        return expectStatus(same, 304) ?? expectStatus(stale, 412);
      },
    ],
    [
      "embedding works",
      async () =>
        expectStatus(
          await ask(deployment, "/federal_awards?select=report_id,general(auditee_name)&limit=1", key),
          200,
        ),
    ],
    [
      "the description of the API lists the tables",
      async () =>
        (await ask(deployment, "/", key)).json?.paths?.["/general"] === undefined
          ? "no /general in it"
          : undefined,
    ],
  ];
}

async function walk(
  deployment: Deployment,
  appUrl: string,
  key: string,
): Promise<string | undefined | NotTried> {
  const list = await ask(deployment, "/general?is_public=eq.false&select=report_id,auditee_uei&limit=1", key);
  const reportId = list.json?.[0]?.report_id;
  if (reportId === undefined) return expectStatus(list, 200) ?? { notTried: "there is no suppressed report" };
  const open = await ask(
    deployment,
    new URL(`/dissemination/report/pdf/${reportId}`, appUrl).href,
    undefined,
  );
  if (open.status < 400) return `the PDF of a suppressed report needs no key: ${open.status}`;
  const granted = await ask(deployment, "/rpc/request_file_access", key, {
    method: "POST",
    headers: { "content-profile": adminSchema, "content-type": "application/json" },
    body: JSON.stringify({ report_id: reportId }),
  });
  if (granted.status !== 200) return expectStatus(granted, 200);
  const address = download(appUrl, granted.json.access_uuid);
  const redirect = await ask(deployment, address, undefined);
  if (redirect.status !== 302) return expectStatus(redirect, 302);
  const file = await ask(deployment, redirect.headers.get("location") ?? "", undefined);
  if (!file.text.startsWith("%PDF-")) return `not a PDF: ${file.status}`;
  return expectStatus(await ask(deployment, address, undefined), 404);
}
