import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressRefused, securityHeaders } from "../../report-service/answers.ts";
import type { RunningServer } from "../../report-service/listen.ts";
import { startLocalStorage } from "../../report-service/local-storage.ts";
import { signTarget } from "../../report-service/local-store.ts";
import { send } from "./http.ts";
import { captureLogs, loggedSecrets, pdf, reportId, signingSecret } from "./parts.ts";

const { lines: log, logger } = captureLogs();
let directory: string;
let server: RunningServer;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "reports-"));
  await writeFile(path.join(directory, `${reportId}.pdf`), pdf, "latin1");
  const secret = signingSecret;
  server = await startLocalStorage({ host: "127.0.0.1", port: 0, directory, secret, logger });
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

const sign = (report = reportId, seconds = 30) => signTarget(signingSecret, report, seconds);
const get = (target: string, method = "GET", headers = {}) => send(server.url, target, { method, headers });
const body = JSON.stringify(addressRefused.body);
/** The same whatever was wrong. */
const refusal = {
  status: 403,
  body,
  headers: {
    ...securityHeaders,
    "content-length": String(body.length),
    "content-type": "application/json; charset=utf-8",
    vary: "Accept",
  },
};

describe("a signed address", () => {
  test("serves the file to GET, as often as it is asked, and its headers to HEAD", async () => {
    const target = sign();
    const file = await get(target);
    expect(file).toMatchObject({ status: 200, body: pdf });
    expect(await get(target, "HEAD")).toEqual({ ...file, body: "" });
  });

  test("works for 60 s at most", async () => {
    expect((await get(sign(reportId, 60))).status).toBe(200);
    for (const seconds of [-1, 62, 1_000_000]) expect(await get(sign(reportId, seconds))).toEqual(refusal);
    const page = await get(sign(reportId, -1), "GET", { accept: "text/html,*/*" });
    expect(page).toMatchObject({ status: 403, headers: { "content-type": "text/html; charset=utf-8" } });
    expect(page.body).toContain(addressRefused.body.hint);
  });

  test("of what is no readable file is no download", async () => {
    const name = (number: number) => `2023-06-CENSUS-000000000${number}`;
    await writeFile(path.join(directory, `${name(0)}.pdf`), "");
    await mkdir(path.join(directory, `${name(1)}.pdf`));
    await symlink("loop.pdf", path.join(directory, "loop.pdf"));
    await symlink("loop.pdf", path.join(directory, `${name(2)}.pdf`));
    const statuses = [0, 1, 2, 3].map(async (number) => (await get(sign(name(number)))).status);
    expect(await Promise.all(statuses)).toEqual([200, 404, 500, 404]);
  });
});

describe("is refused:", () => {
  const rewritten: [string, (target: string) => string][] = [
    ["a parameter more", (target) => `${target}&x=1`],
    ["an empty parameter more", (target) => `${target}&`],
    ["a parameter twice", (target) => target.replace(/(expires=\d+)/, "$1&$1")],
    ["parameters in another order", (target) => target.replace(/\?(.*)&(.*)$/, "?$2&$1")],
    ["no signature", (target) => target.replace(/&signature.*/, "")],
    ["an empty signature", (target) => target.replace(/signature=.*/, "signature=")],
    ["a signature in capital letters", (target) => target.replace(/[a-f](?=[0-9a-f]*$)/, "A")],
    ["an escaped character", (target) => target.replace("GSAFAC", "%47SAFAC")],
    ["a zero byte", (target) => `${target}%00`],
    ["a dot segment", (target) => target.replace("/reports/", "/reports/./")],
    ["a doubled slash", (target) => target.replace("/reports/", "//reports/")],
    ["a path that climbs", (target) => target.replace("/reports/", "/reports/../reports/")],
    ["another report", (target) => target.replace("0000000001", "0000000002")],
    [
      "a later expiry",
      (target) => target.replace(/expires=\d+/, (it) => `expires=${Number(it.slice(8)) + 1}`),
    ],
    ["a fragment", (target) => `${target}%23`],
    ["a host before it", (target) => `http://127.0.0.1${target}`],
    ["a signature by another secret", () => signTarget("another secret, of 32 characters", reportId, 30)],
    ["a signed path that climbs", () => sign("../outside")],
    ["a signed report ID with a digit more", () => sign("2023-06-GSAFAC-00000000001")],
    ["the root", () => "/"],
    ["a file without a signature", () => `/reports/${reportId}.pdf`],
    ["a broken escape", () => "/%zz"],
    ["another path", () => "/etc/passwd"],
  ];
  test.each(rewritten)("%s", async (_what, rewrite) => {
    await writeFile(path.join(directory, "../outside.pdf"), pdf);
    expect(rewrite(sign())).not.toBe(sign());
    expect(await get(rewrite(sign()))).toEqual(refusal);
    await rm(path.join(directory, "../outside.pdf"), { force: true });
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"])("the method %s", async (method) => {
    expect(await get(sign(), method)).toEqual(refusal);
  });
});

test("the log names no address and no secret", () => {
  expect(log.join("")).toContain('"status":200');
  expect(log.join("")).not.toMatch(loggedSecrets);
  expect(log.join("")).not.toContain("etc/passwd");
});
