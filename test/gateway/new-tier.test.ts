import { readFile } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { runKeys } from "../../scripts/access/keys.ts";
import { readBlocks } from "../support/read-blocks.ts";
import { runHere } from "../support/run-here.ts";
import { usePublishedDatabase } from "../support/scratch-database.ts";
import { startScratchService } from "../support/scratch-service.ts";
import { readKongYml, send, startGateway, startUpstream, useGateways } from "./gateways.ts";

useGateways();
const database = usePublishedDatabase();

it("a new tier with a row and a limit has its own rate limits, which count each key separately", async () => {
  const guide = await readFile(new URL("../../docs/keys.md", import.meta.url), "utf8");
  // The test follows the guide to the letter.
  const [sql = "", yaml = "", sh = ""] = readBlocks(guide, "Add a tier").map(({ text }) => text);
  await database.client.query(sql);
  const service = await startScratchService(database.url);
  onTestFinished(() => service.stop());
  const upstream = await startUpstream(async ({ url = "", headers }, response) => {
    const key = { "x-api-key-sha256": headers["x-api-key-sha256"] ?? "" };
    response.writeHead((await service.request(url, { headers: key })).status).end();
  });
  const [[tier = "", limits] = []] = Object.entries<{ by: "key"; hour: number }>(parse(yaml));
  if (limits === undefined) throw new Error("docs/keys.md does not show a limit");
  const config = await readKongYml((kong) => {
    kong.config.limits[tier] = limits;
  });
  const { url } = await startGateway(config, upstream);

  const issue = async (command: string) => {
    const [, args = ""] = /^npm run -s keys -- (.*)\n$/.exec(command) ?? [];
    const env = { DATABASE_URL: database.url };
    const { stdout, stderr } = await runHere(runKeys, [...args.split(" "), "--quiet"], { env });
    expect(stderr).toBe("");
    return stdout.trim();
  };
  const ask = async (key: string) => {
    const { status, headers } = await send(url, "/general?limit=1", { headers: { "x-api-key": key } });
    expect(status).toBe(200);
    return ["limit", "remaining"].map((name) => Number(headers[`x-ratelimit-${name}-hour`]));
  };
  for (const key of [await issue(sh), await issue(sh)]) {
    expect(await ask(key)).toEqual([limits.hour, limits.hour - 1]);
    expect(await ask(key)).toEqual([limits.hour, limits.hour - 2]);
  }
  const [other] = await ask(await issue(sh.replace("partner", "individual")));
  expect(other).not.toBe(limits.hour);
  // This key names no tier, so the client's x-api-key-tier must be ignored.
  const forged = { "x-api-key": `a${"1B".repeat(21)}`, "x-api-key-tier": "partner" };
  expect((await send(url, "/", { headers: forged })).headers["x-ratelimit-limit-hour"]).toBe(String(other));
});
