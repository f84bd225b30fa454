import { writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningServer } from "../../report-service/listen.ts";
import { startS3Server } from "../support/s3-server.ts";
import { openTokens, type Tokens } from "./database.ts";
import { type Reply, send } from "./http.ts";
import { downloads, type Parts, pdf, reportId, signingSecret, startParts } from "./parts.ts";

// A storage that answers for some files and never for others.

const hungReport = "2023-06-GSAFAC-0000000009";
const keys = { accessKeyId: "AKIDTEST", secretAccessKey: "a/secret+key" };
const bucket = "single-audit";

let parts: Parts;
let tokens: Tokens;
const closes: (() => Promise<unknown>)[] = [];
const services: Record<string, RunningServer> = {};

beforeAll(async () => {
  parts = await startParts();
  closes.push(parts.close);
  tokens = await openTokens();
  closes.push(tokens.close);
  await writeFile(path.join(parts.directory, `${hungReport}.pdf`), pdf, "latin1");
  const objects = { [`reports/${reportId}.pdf`]: pdf, [`reports/${hungReport}.pdf`]: pdf };
  const s3 = await startS3Server({ ...keys, bucket, objects });
  closes.push(s3.close);
  const local = await hangFor(Number(new URL(parts.storageUrl).port));
  const remote = await hangFor(s3.port);
  services.disk = await parts.startAnother({ kind: "local", url: local, secret: signingSecret });
  services.S3 = await parts.startAnother({
    kind: "s3",
    bucket,
    region: "us-gov-west-1",
    keyPrefix: "reports/",
    forcePathStyle: true,
    endpoint: remote,
    credentials: keys,
  });
});
afterAll(async () => {
  for (const close of closes.reverse()) await close();
});

/** Stands before a storage, and says nothing when it is asked for the hung report. */
async function hangFor(port: number): Promise<string> {
  const server: Server = createServer(({ method, url, headers }, response) => {
    if (url?.includes(hungReport)) return;
    const passed = request({ host: "127.0.0.1", port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closes.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

const issue = (report: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => tokens.issue(report)));

async function redeem(kind: string, token: string): Promise<Reply & { milliseconds: number }> {
  const start = performance.now();
  const reply = await send(services[kind]?.url ?? "", `${downloads}/${token}`);
  return { ...reply, milliseconds: performance.now() - start };
}

describe.concurrent.each(["disk", "S3"])("a storage (%s) that hangs for 100 tokens", (kind) => {
  test("keeps no other token waiting, and spends none of the 100", async () => {
    const [hung, others] = [await issue(hungReport, 100), await issue(reportId, 20)];
    const waiting = Promise.all(hung.map((token) => redeem(kind, token)));
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const token of others) {
      const { status, milliseconds } = await redeem(kind, token);
      expect(status).toBe(302);
      expect(milliseconds).toBeLessThan(1000);
      expect(await tokens.isSpent(token)).toBe(true);
    }
    const ready = await send(services[kind]?.url ?? "", "/readyz");
    expect(ready.status).toBe(200);
    for (const { status, headers, body, milliseconds } of await waiting) {
      expect([status, headers["retry-after"]]).toEqual([503, "5"]);
      expect(JSON.parse(body).details).toBe("The token was not used up.");
      expect(milliseconds).toBeLessThan(4500);
    }
    expect(await Promise.all(hung.map(tokens.isSpent))).not.toContain(true);
  });
});
