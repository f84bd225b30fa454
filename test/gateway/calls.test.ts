import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { kongProgram, unlimitedAddresses } from "../support/start-kong.ts";
import {
  keys,
  readKongYml,
  send,
  startGateway,
  startRealKong,
  startUpstream,
  unlimited,
  useGateways,
} from "./gateways.ts";

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

it.skipIf(kongProgram === undefined)(
  "a request gets 503 if DNS has no answer in time, as when Docker replaces PostgREST's container",
  async () => {
    const dns = createSocket("udp4");
    onTestFinished(() => void dns.close());
    dns.bind(0, "127.0.0.1");
    await once(dns, "listening");
    const environment = { ...unlimitedAddresses, KONG_DNS_RESOLVER: `127.0.0.1:${dns.address().port}` };
    const config = await readKongYml(unlimited);
    const { url } = await startRealKong(config, "http://postgrest:3000", [], environment);
    const { status, headers, body } = await send(url, "/general", {
      headers: { "x-api-key": keys.standard },
    });
    expect([status, headers["retry-after"], JSON.parse(body).code]).toEqual([503, "30", "api_unavailable"]);
  },
);
