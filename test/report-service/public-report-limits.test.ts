import { Pool } from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { createReportService } from "../../report-service/create-report-service.ts";
import { createLocalStore } from "../../report-service/local-store.ts";
import { createLogger } from "../../report-service/quiet-logging.ts";
import { publicReportsAnHour } from "../../report-service/serve-public-reports.ts";
import { signingSecret } from "./parts.ts";

// Of IDs that no report can have neither database nor storage is asked, so there is none here.

const pool = new Pool({ host: "127.0.0.1", port: 1 });
const storage = createLocalStore({ url: "http://127.0.0.1:1", secret: signingSecret });
const logger = createLogger({ name: "test", level: "silent" });
afterAll(() => pool.end());

function start(trustedIps: string[] = []) {
  const { app, metrics } = createReportService({ pool, storage, logger, trustedIps });
  const ask = (remoteAddress: string, forwarded?: string) =>
    app.inject({
      url: "/dissemination/report/pdf/x",
      remoteAddress,
      headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
    });
  const spend = async (...from: Parameters<typeof ask>) => {
    for (let count = 0; count < publicReportsAnHour; count += 1)
      expect((await ask(...from)).statusCode).toBe(404);
  };
  return { ask, spend, metrics };
}

describe("requests for PDFs of public reports", () => {
  it("are limited by address, and others are answered", async () => {
    const { ask, spend, metrics } = start();
    await spend("192.0.2.1");
    const answer = await ask("192.0.2.1", "192.0.2.2");
    expect([answer.statusCode, answer.json().code]).toEqual([429, "too_many_requests"]);
    const seconds = Number(answer.headers["retry-after"]);
    expect(seconds).toBeGreaterThan(3500);
    expect(seconds).toBeLessThanOrEqual(3600);
    expect((await ask("192.0.2.2")).statusCode).toBe(404);
    expect(await metrics.registry.metrics()).toContain(
      'report_service_public_reports_total{result="limited"} 1',
    );
  });

  it("are limited by /64 where they come by IPv6", async () => {
    const { ask, spend } = start();
    await spend("2001:db8::1");
    expect((await ask("2001:db8:0:0:ffff::2")).statusCode).toBe(429);
    expect((await ask("2001:db8:0:1::1")).statusCode).toBe(404);
  });

  it("are counted for the client that a trusted load balancer names", async () => {
    const { ask, spend } = start(["10.0.0.0/8"]);
    await spend("10.1.2.3", "198.51.100.1");
    expect((await ask("10.1.2.3", "192.0.2.9, 198.51.100.1")).statusCode).toBe(429);
    expect((await ask("10.1.2.3", "198.51.100.2")).statusCode).toBe(404);
  });
});
