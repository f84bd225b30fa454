import { createReadStream } from "node:fs";
import { truncate, writeFile } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createReportService } from "../../report-service/create-report-service.ts";
import { createLocalStore } from "../../report-service/local-store.ts";
import { publicReportsAnHour } from "../../report-service/serve-public-reports.ts";
import type { AddRoutes } from "../../shared/web/create-app.ts";
import { downloadsInAll, downloadsPerAddress } from "../../shared/web/limit-downloads.ts";
import { createLogger } from "../../shared/web/quiet-logging.ts";
import type { PublicFiles } from "../../site/public-data/public-files.ts";
import { servePublicData } from "../../site/public-data/serve-public-data.ts";
import { target } from "../support/target.ts";
import { send } from "./http.ts";
import { openPool, serviceDatabaseUrl, useDirectory } from "./parts.ts";

/** So much that no reader in these tests reaches the end. The file is sparse, so it takes no room. */
const bytes = 8 * 1024 ** 3;
const pool = openPool(serviceDatabaseUrl(target.databaseUrl));
const inDirectory = useDirectory();

const sparse = { name: "a.gz", table: "a", audit_year: null, format: "csv", rows: 1, bytes, sha256: "0" };
const manifest = { data_set: "1", published_at: "2026-01-01T00:00:00Z", files: [sparse], changes: [] };
/** Without the time limits of storage, which a busy machine may exceed. */
const files: PublicFiles = {
  readManifest: async () => ({ manifest, text: "" }),
  open: async () => createReadStream(inDirectory("a.gz")),
};

beforeAll(async () => {
  await writeFile(inDirectory("a.gz"), "");
  await truncate(inDirectory("a.gz"), bytes);
});
afterAll(() => pool.end());

function create(...trustedIps: string[]) {
  const logger = createLogger({ name: "test", level: "silent" });
  const storage = createLocalStore(inDirectory());
  const addSite: AddRoutes = (app, { limit }) => servePublicData(app, files, [limit]);
  return createReportService({ pool, storage, addSite, trustedIps, logger });
}

it("has the limits that docs/api.md states", () => {
  expect([publicReportsAnHour, downloadsPerAddress, downloadsInAll]).toEqual([600, 16, 256]);
});

describe("requests for PDFs of public reports", () => {
  // This is not a valid report ID, so the service queries neither the database nor storage.
  const url = "/dissemination/report/pdf/x";
  function start(...trustedIps: string[]) {
    const { app, registry } = create(...trustedIps);
    const ask = (remoteAddress: string, forwarded?: string) =>
      app.inject({ url, remoteAddress, headers: forwarded ? { "x-forwarded-for": forwarded } : {} });
    const readStatus = async (...from: Parameters<typeof ask>) => (await ask(...from)).statusCode;
    const spend = async (...from: Parameters<typeof ask>) => {
      for (let count = 0; count < publicReportsAnHour; count += 1)
        expect(await readStatus(...from)).toBe(404);
    };
    return { ask, readStatus, spend, registry };
  }

  it("are limited per client IP, without affecting other clients", async () => {
    const { ask, readStatus, spend, registry } = start();
    await spend("192.0.2.1");
    const { statusCode, headers, json } = await ask("192.0.2.1", "192.0.2.2");
    expect([statusCode, json().code]).toEqual([429, "too_many_requests"]);
    expect(headers["access-control-allow-origin"]).toBe("*");
    const seconds = Number(headers["retry-after"]);
    expect(seconds > 0 && seconds <= 3600, `${seconds} s`).toBe(true);
    expect(await readStatus("192.0.2.2")).toBe(404);
    const counted = 'report_service_public_reports_total{result="limited"} 1';
    expect(await registry.metrics()).toContain(counted);
  });

  it("are limited per IPv6 /64, and per client IP that a trusted load balancer forwards", async () => {
    const { readStatus, spend } = start("10.0.0.0/8");
    await spend("2001:db8::1");
    expect(await readStatus("2001:db8:0:0:ffff::2")).toBe(429);
    expect(await readStatus("2001:db8:0:1::1")).toBe(404);
    await spend("10.1.2.3", "198.51.100.1");
    expect(await readStatus("10.1.2.3", "192.0.2.9, 198.51.100.1")).toBe(429);
    expect(await readStatus("10.1.2.3", "198.51.100.2")).toBe(404);
  });
});

describe("downloads of bulk files", () => {
  async function start() {
    const { app } = create("127.0.0.1");
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    onTestFinished(() => app.close());
    const { port } = app.server.address() as AddressInfo;
    /** Requests the file without reading the response. */
    const stall = (address: string) => {
      const socket = connect(port, "127.0.0.1").pause();
      socket.on("error", () => {});
      socket.write(`GET /public-data/a.gz HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${address}\r\n\r\n`);
      onTestFinished(() => void socket.destroy());
      return socket;
    };
    const readStatus = async (address: string, target = "/public-data/a.gz", method = "HEAD") => {
      const options = { method, headers: { "x-forwarded-for": address } };
      const { status, headers } = await send(url, target, options);
      // Scripts on pages of other sites can read each answer.
      expect(headers["access-control-allow-origin"]).toBe("*");
      return status;
    };
    return { server: app.server, stall, readStatus };
  }

  it("are limited in number per client IP, until one of them ends", async () => {
    const { stall, readStatus } = await start();
    const sockets = Array.from({ length: downloadsPerAddress }, (_, index) => stall(`2001:db8::${index}`));
    await expect.poll(() => readStatus("2001:db8::ffff")).toBe(429);
    expect(await readStatus("2001:db8::ffff", "/reports/x.pdf", "GET")).toBe(429);
    expect(await readStatus("2001:db8:0:1::1")).toBe(200);
    sockets[0]?.destroy();
    await expect.poll(() => readStatus("2001:db8::ffff")).toBe(200);
  });

  it("are limited in number for all clients together, until one of them ends", async () => {
    const { stall, readStatus } = await start();
    const sockets = Array.from({ length: downloadsInAll }, (_, index) => stall(`192.0.2.${index % 32}`));
    await expect.poll(() => readStatus("198.51.100.1")).toBe(503);
    sockets[0]?.destroy();
    await expect.poll(() => readStatus("198.51.100.1")).toBe(200);
  });

  it("are cut off if the client stops reading, but not if it reads slowly", async () => {
    const { server, stall } = await start();
    const countConnections = promisify(server.getConnections.bind(server));
    expect(server.timeout > 0 && server.timeout <= 60_000).toBe(true);
    // A shorter timeout keeps the test fast.
    server.setTimeout(400);
    const slow = stall("192.0.2.1");
    for (let count = 0; count < 5; count += 1) stall("192.0.2.2");
    await expect.poll(countConnections).toBe(6);
    let read = 0;
    const reading = setInterval(() => {
      read += slow.read(slow.readableLength)?.length ?? 0;
    }, 5);
    onTestFinished(() => clearInterval(reading));
    await expect.poll(countConnections).toBe(1);
    const readUntilThen = read;
    await expect.poll(() => read).toBeGreaterThan(readUntilThen + 4 * 1024 * 1024);
  });
});
