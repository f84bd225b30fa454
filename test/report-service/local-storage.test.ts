import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressRefused, securityHeaders } from "../../report-service/answers.ts";
import type { RunningServer } from "../../report-service/listen.ts";
import { startLocalStorage } from "../../report-service/local-storage.ts";
import { signTarget } from "../../report-service/local-store.ts";
import { send } from "./http.ts";
import { captureLogs, pdf, reportId, signingSecret } from "./parts.ts";

const logs = captureLogs();
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
let directory: string;
let server: RunningServer;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "reports-"));
  await writeFile(path.join(directory, `${reportId}.pdf`), pdf, "latin1");
  server = await startLocalStorage({
    host: "127.0.0.1",
    port: 0,
    directory,
    secret: signingSecret,
    logger: logs.logger,
  });
});
afterAll(async () => {
  agent.destroy();
  await server.close();
  await rm(directory, { recursive: true });
});

function sign(report = reportId, expiresInSeconds = 30): string {
  return signTarget(signingSecret, report, expiresInSeconds);
}

function get(target: string, method = "GET") {
  return send(server.url, target, { method, agent });
}

/** Tells nothing of the request. */
const refusal = {
  status: 403,
  body: JSON.stringify(addressRefused.body),
  headers: {
    ...securityHeaders,
    "content-length": String(JSON.stringify(addressRefused.body).length),
    "content-type": "application/json; charset=utf-8",
    vary: "Accept",
  },
};

describe("a signed address", () => {
  test("serves the file to GET, and its headers to HEAD", async () => {
    const file = await get(sign());
    expect(file).toMatchObject({ status: 200, body: pdf });
    const head = await get(sign(), "HEAD");
    expect(head).toEqual({ ...file, body: "" });
    expect(head.headers["content-length"]).toBe(String(pdf.length));
  });

  test("works more than once while it lives", async () => {
    const target = sign();
    expect([(await get(target)).status, (await get(target)).status]).toEqual([200, 200]);
  });

  test("is refused after its time", async () => {
    const target = sign(reportId, 2);
    expect((await get(target)).status).toBe(200);
    await sleep(2050);
    expect(await get(target)).toEqual(refusal);
    const page = await send(server.url, target, { headers: { accept: "text/html,*/*" } });
    expect(page).toMatchObject({ status: 403, headers: { "content-type": "text/html; charset=utf-8" } });
    expect(page.body).toContain(addressRefused.body.hint);
  });

  test("is refused if it was to live for more than 60 s", async () => {
    expect((await get(sign(reportId, 60))).status).toBe(200);
    expect(await get(sign(reportId, 62))).toEqual(refusal);
    expect(await get(sign(reportId, 1_000_000))).toEqual(refusal);
  });

  test("is refused if another secret signed it", async () => {
    const target = signTarget("another secret, of 32 characters", reportId, 30);
    expect(await get(target)).toEqual(refusal);
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])("is refused to %s", async (method) => {
    expect(await get(sign(), method)).toEqual(refusal);
  });

  test("of a file that is not there is answered 404, and of an empty one 200", async () => {
    expect(await get(sign("2023-06-GSAFAC-0000000404"), "HEAD")).toMatchObject({ status: 404, body: "" });
    expect(JSON.parse((await get(sign("2023-06-GSAFAC-0000000404"))).body).code).toBe("file_not_found");
    await writeFile(path.join(directory, "2023-06-CENSUS-0000000000.pdf"), "");
    expect(await get(sign("2023-06-CENSUS-0000000000"))).toMatchObject({ status: 200, body: "" });
  });

  test("of a directory or a file that cannot be followed is an error and not a download", async () => {
    await mkdir(path.join(directory, "2023-06-CENSUS-0000000001.pdf"));
    await symlink("loop.pdf", path.join(directory, "loop.pdf"));
    await symlink("loop.pdf", path.join(directory, "2023-06-CENSUS-0000000002.pdf"));
    expect((await get(sign("2023-06-CENSUS-0000000001"), "HEAD")).status).toBe(404);
    expect((await get(sign("2023-06-CENSUS-0000000002"), "HEAD")).status).toBe(500);
  });
});

describe("an address that nobody signed", () => {
  const neighbours = (character: string): string[] => [
    ..."0fzAZ-._~/?&=%".replace(character, ""),
    String.fromCharCode(character.charCodeAt(0) + 1).replace(/[^!-"$-~]/, "x"),
    swapCase(character),
    // Other spellings of the same character.
    `%${character.charCodeAt(0).toString(16)}`,
    `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
    // Removed, doubled, followed by another one.
    "",
    character + character,
    `${character}0`,
    `${character}%00`,
  ];

  test("is refused, whichever character of it was changed", async () => {
    const target = sign();
    const changed = new Set<string>();
    // Without its first slash a target is not HTTP.
    for (let index = 1; index < target.length; index += 1) {
      for (const neighbour of neighbours(target.charAt(index))) {
        changed.add(target.slice(0, index) + neighbour + target.slice(index + 1));
      }
    }
    changed.delete(target);
    expect(changed.size).toBeGreaterThan(2000);
    await Promise.all([...changed].map(async (other) => expect(await get(other), other).toEqual(refusal)));
    expect((await get(target)).status).toBe(200);
  });

  const rewritten: [string, (target: string) => string][] = [
    ["a parameter more", (target) => `${target}&x=1`],
    ["an empty parameter more", (target) => `${target}&`],
    ["a parameter twice", (target) => `${target}&${target.split("&")[1]}`],
    ["the other parameter twice", (target) => target.replace(/(expires=\d+)/, "$1&$1")],
    ["its parameters in another order", (target) => target.replace(/\?(.*)&(.*)$/, "?$2&$1")],
    ["no signature", (target) => target.replace(/&signature.*/, "")],
    ["an empty signature", (target) => target.replace(/signature=.*/, "signature=")],
    ["no query", (target) => target.replace(/\?.*/, "")],
    ["a dot segment", (target) => target.replace("/reports/", "/reports/./")],
    ["a doubled slash", (target) => target.replace("/reports/", "//reports/")],
    ["a path that climbs", (target) => target.replace("/reports/", "/reports/../reports/")],
    ["another report", (target) => target.replace("0000000001", "0000000002")],
    [
      "a later expiry",
      (target) => target.replace(/expires=(\d+)/, (_, time) => `expires=${Number(time) + 1}`),
    ],
    ["a fragment", (target) => `${target}%23`],
    ["a host before it", (target) => `http://127.0.0.1${target}`],
  ];

  test.each(rewritten)("is refused: %s", async (_what, rewrite) => {
    const target = sign();
    expect(rewrite(target)).not.toBe(target);
    expect(await get(rewrite(target))).toEqual(refusal);
  });

  test.each([
    "/",
    "/reports/",
    `/reports/${reportId}.pdf`,
    "/etc/passwd",
    "/%zz",
    "/healthz",
    "/favicon.ico",
  ])("is refused: %s", async (target) => {
    expect(await get(target)).toEqual(refusal);
  });

  // Signed all the same, as if the secret had signed something that is no report ID.
  test.each([
    "../outside",
    "..%2foutside",
    "2023-06-GSAFAC-00000000001",
    "2023-06-gsafac-0000000001",
    "x\\y",
  ])("is refused even with a valid signature: %s", async (report) => {
    await writeFile(path.join(directory, "../outside.pdf"), pdf);
    try {
      expect(await get(sign(report))).toEqual(refusal);
    } finally {
      await rm(path.join(directory, "../outside.pdf"));
    }
  });
});

test("a file that is larger than any buffer arrives whole", async () => {
  const large = "0123456789abcdef".repeat(500_000);
  await writeFile(path.join(directory, "2022-01-GSAFAC-0000000008.pdf"), large);
  const reply = await get(sign("2022-01-GSAFAC-0000000008"));
  expect(reply.headers["content-length"]).toBe("8000000");
  expect(reply.body === large).toBe(true);
});

test("the log names no address and no secret", () => {
  const log = logs.lines.join("");
  expect(log).toContain('"status":200');
  expect(log).not.toMatch(/signature|expires=|0123456789abcdef|etc\/passwd/);
});

function swapCase(character: string): string {
  return character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
}
