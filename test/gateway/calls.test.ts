import { expect, it } from "vitest";
import { keys, readKongYml, send, startGateway, startUpstream, unlimited, useGateways } from "./gateways.ts";

useGateways();

it("a call that gets no answer gets 503 within 5 s, and is not repeated", async () => {
  let received = 0;
  const postgrest = await startUpstream(() => {
    received += 1;
  });
  const { url } = await startGateway(await readKongYml(unlimited), postgrest);
  const options = {
    method: "POST",
    headers: { "x-api-key": keys.standard, "content-type": "application/json" },
  };
  const started = performance.now();
  const { status, headers, body } = await send(url, "/rpc/request_file_access", options, "{}");
  // Reads have 65 s.
  expect(performance.now() - started).toBeLessThan(20_000);
  expect([status, headers["proxy-status"], JSON.parse(body).code]).toEqual([
    503,
    "Gateway; error=api_unavailable",
    "api_unavailable",
  ]);
  expect(received).toBe(1);
});
