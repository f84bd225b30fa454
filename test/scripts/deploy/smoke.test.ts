import { createHash } from "node:crypto";
import { expect, it, onTestFinished } from "vitest";
import { runSmoke } from "../../../scripts/smoke/smoke-program.ts";
import { readKongYml, startEmbedded, startUpstream, unlimited, useGateways } from "../../gateway/gateways.ts";
import { recordDataSet, useDeployedDatabase } from "../../support/scratch-database.ts";
import { startScratchService } from "../../support/scratch-service.ts";
import { send, target } from "../../support/target.ts";
import { publishSample, run } from "./support.ts";

const database = useDeployedDatabase();
useGateways();

it("smoke passes on a correct deployment", async () => {
  const { code, output } = await run(runSmoke, [
    ...["--base-url", target.baseUrl, "--app-url", target.appUrl],
    ...["--key", target.keys.individual, "--tribal-key", target.keys.tribal],
  ]);
  expect(output).toMatch(/^(\d+) of \1 checks passed\.$/m);
  expect(code).toBe(0);
});

it("smoke fails if nothing answers, or if the API rejects the key", async () => {
  const away = await run(runSmoke, ["--base-url", "http://127.0.0.1:1", "--key", "any", "--json"]);
  expect(away.code).toBe(1);
  const locked = await run(runSmoke, ["--base-url", target.baseUrl, "--key", "no-such-key"]);
  expect(locked.code).toBe(1);
  const empty = await startUpstream((_request, response) => void response.writeHead(503).end("{}"));
  const pages = await run(runSmoke, [
    "--base-url",
    target.baseUrl,
    "--key",
    "no-such-key",
    "--app-url",
    empty,
  ]);
  expect(pages.output).toMatch(/^FAIL the app's OpenAPI document lists the tables/m);
  expect(locked.output).toContain("FAIL api_v1_1_0.general has its columns");
  expect(locked.output).toContain("ok   no key gets 401");
});

it("until a data set is published, the API answers 503 to valid keys, and smoke says so and exits with 3", async () => {
  const service = await startScratchService(database.url);
  onTestFinished(service.stop);
  const config = await readKongYml(unlimited);
  const { url } = await startEmbedded(config, "", { env: service.gatewayEnv });
  // A key that a backup may bring.
  const unknown = "individual_00112233445566778899aabbccddeeff";
  const key = { value: unknown + createHash("sha256").update(unknown).digest("hex").slice(0, 8) };
  expect(await send(url, "/general", { key })).toMatchObject({ status: 503, json: { code: "no_data_set" } });
  await database.client.query(
    "select access.decide_agreement(access.request_agreement('Nation', 'c@example.gov'), 'approved', 'A', 'B', 'a@example.gov')",
  );
  const issue = async (tier: string, agreement: string) => {
    const sql = `select api_key from access.issue_key('${tier}', 'a@example.gov', '', null, ${agreement})`;
    return (await database.client.query<{ api_key: string }>(sql)).rows[0]?.api_key ?? "";
  };
  const individual = await issue("individual", "null");
  const tribal = await issue("tribal", "(select id from access.tribal_access_agreements)");
  const call = { method: "POST", body: '{"report_id": "2023-06-GSAFAC-0000000001"}' };
  const headers = { "content-profile": "admin_api_v1_1_0", "content-type": "application/json" };
  for (const answer of [
    await send(url, "/general?report_id=eq.none", { key: { value: individual } }),
    await send(url, "/rpc/request_file_access", { ...call, headers, key: { value: tribal } }),
  ])
    expect(answer).toMatchObject({
      status: 503,
      headers: { "retry-after": "30", "proxy-status": "PostgREST; error=no_data_set" },
      json: { code: "no_data_set" },
    });
  const args = ["--base-url", url, "--key", individual, "--tribal-key", tribal];
  const { code, output } = await run(runSmoke, args);
  expect(code, output).toBe(3);
  expect(await send(url, "/general", { key })).toMatchObject({ status: 401 });
  expect(output).toMatch(/^No data set has been published yet/m);
  expect(output).toMatch(/^(\d+) of \1 checks passed\.$/m);
  // With a Tribal key, the check for a refused call fails.
  expect(await run(runSmoke, ["--base-url", url, "--key", tribal])).toMatchObject({ code: 1 });
});

it("smoke finds suppressed submissions in a table or a public PDF, and a function in no contract", async () => {
  const service = await startScratchService(database.url);
  onTestFinished(service.stop);
  // PostgREST alone, with the header that the gateway sets.
  const gateway = await startUpstream(async (request, response) => {
    const headers = { "accept-profile": String(request.headers["accept-profile"] ?? "api_v1_1_0") };
    const { status, json } = await service.request(request.url ?? "", { headers });
    response.writeHead(status).end(JSON.stringify(json));
  });
  const find = async (what: string, ...more: string[]) =>
    (await run(runSmoke, ["--base-url", gateway, "--key", "any", ...more])).output
      .split("\n")
      .find((line) => line.includes(what));
  const check = () => find("a suppressed submission's ID");
  await database.client.query(recordDataSet);
  const walk = await find("the three steps", "--tribal-key", "any", "--app-url", "http://127.0.0.1:1");
  expect(walk).toMatch(/^-- .* there is no suppressed report$/);
  await publishSample(database.client);
  expect(await check()).toMatch(/^ok/);
  const open = await startUpstream((_, response) => response.writeHead(302).end());
  const pdf = await find("public PDF of a suppressed", "--app-url", open);
  expect(pdf).toMatch(/^FAIL .* 302 instead of 404/);
  await database.client.query("alter view dissemination.federal_awards reset (security_invoker)");
  expect(await check()).toMatch(/^FAIL .*federal_awards has rows of suppressed submissions/);
  await database.client.query(
    `alter view dissemination.federal_awards set (security_invoker = true);
     create function api_v1_1_0.all_of_it() returns integer language sql stable as 'select 1';
     grant execute on function api_v1_1_0.all_of_it() to api_public; notify pgrst, 'reload schema'`,
  );
  await expect.poll(check).toMatch(/^FAIL .*\/rpc\/all_of_it is in no contract/);
});
