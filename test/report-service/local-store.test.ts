import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { invalidLink } from "../../report-service/error-responses.ts";
import { securityHeaders } from "../../shared/web/error-responses.ts";
import { follow, send } from "./http.ts";
import { downloads, type Parts, pdf, pdfAnswer, reportId, startParts, useDirectory } from "./parts.ts";

const inDirectory = useDirectory();
const locate = (report: string) => inDirectory("reports", `${report}.pdf`);
let directory: string;
let parts: Parts;

beforeAll(async () => {
  directory = inDirectory("reports");
  await mkdir(directory);
  for (const report of [reportId, "2023-06-GSAFAC-0000000002", "../outside"])
    await writeFile(locate(report), pdf, "latin1");
  parts = await startParts({ storage: { kind: "local", directory } });
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => parts.close());

const redeem = async (report = reportId) =>
  send(parts.url, `${downloads}/${await parts.tokens.issue(report)}`);
const sign = async () => String((await redeem()).headers.location);

test("a token redirects to a signed URL of this service, which works for less than a minute", async () => {
  const redirect = await redeem();
  expect(redirect.headers.location).toMatch(/^\/reports\//);
  const answer = await follow(redirect, parts.url);
  expect(answer).toMatchObject(pdfAnswer);
  expect(answer.headers).toMatchObject({ ...securityHeaders, "cache-control": "private, no-store" });
  const now = Date.now();
  const clock = vi.spyOn(Date, "now");
  const readStatusAfter = async (seconds: number) => {
    clock.mockReturnValue(now + seconds * 1000);
    return (await follow(redirect, parts.url)).status;
  };
  expect([await readStatusAfter(45), await readStatusAfter(60)]).toEqual([200, 403]);
});

test("a token redirects to an empty file, but not to a directory, a symlink loop or a missing file", async () => {
  const name = (number: number) => `2023-06-CENSUS-000000000${number}`;
  await writeFile(locate(name(0)), "");
  await mkdir(locate(name(1)));
  await symlink(`${name(2)}.pdf`, locate(name(2)));
  const statuses = [0, 1, 2, 3].map(async (number) => (await redeem(name(number))).status);
  expect(await Promise.all(statuses)).toEqual([302, 404, 503, 404]);
  expect(await follow(await redeem(name(0)), parts.url)).toMatchObject({ status: 200, body: "" });
});

test("a file that disappears after its URL was signed: 404, and the log names the report", async () => {
  const [file, address] = [locate(reportId), await sign()];
  await rename(file, `${file}.away`);
  expect((await send(parts.url, address)).status).toBe(404);
  await rename(`${file}.away`, file);
  expect(parts.readLog()).toContain(`"report_id":"${reportId}","msg":"a file disappeared`);
});

test("a missing directory: 503, and no token is spent", async () => {
  const targets = [`${downloads}/${await parts.tokens.issue()}`, "/readyz", await sign()];
  const readStatuses = () =>
    Promise.all(targets.map(async (target) => (await send(parts.url, target)).status));
  await rename(directory, `${directory}.away`);
  expect(await readStatuses()).toEqual([503, 503, 503]);
  await rename(`${directory}.away`, directory);
  expect(await readStatuses()).toEqual([302, 200, 200]);
});

describe("the service refuses", () => {
  test.each<[string, (target: string) => string]>([
    ["an extra parameter", (target) => `${target}&x=1`],
    ["an empty extra parameter", (target) => `${target}&`],
    ["a repeated parameter", (target) => target.replace(/(expires=\d+)/, "$1&$1")],
    ["parameters in another order", (target) => target.replace(/\?(.*)&(.*)$/, "?$2&$1")],
    ["no signature", (target) => target.replace(/&signature.*/, "")],
    ["an empty signature", (target) => target.replace(/signature=.*/, "signature=")],
    ["an uppercase signature", (target) => target.replace(/[0-9a-f]*$/, (it) => it.toUpperCase())],
    ["an escaped character", (target) => target.replace("GSAFAC", "%47SAFAC")],
    ["an escaped null byte", (target) => `${target}%00`],
    ["a dot segment", (target) => target.replace("/reports/", "/reports/./")],
    ["a double slash", (target) => target.replace("/reports/", "//reports/")],
    ["a .. segment", (target) => target.replace("/reports/", "/reports/../reports/")],
    ["another report", (target) => target.replace("0000000001", "0000000002")],
    ["a file outside the directory", (target) => target.replace(reportId, "../outside")],
    ["a later expiry", (target) => target.replace(/expires=(\d)/, "expires=9")],
    ["a leading zero in the expiry", (target) => target.replace("expires=", "expires=0")],
    ["an escaped number sign", (target) => `${target}%23`],
    ["a scheme and host in the request line", (target) => `http://127.0.0.1${target}`],
    ["an invalid percent escape", (target) => `${target}%zz`],
    ["neither an expiry nor a signature", () => `/reports/${reportId}.pdf`],
  ])("a signed URL with %s", async (_what, rewrite) => {
    const { status, body } = await send(parts.url, rewrite(await sign()));
    expect([status, body]).toEqual([403, JSON.stringify(invalidLink.body)]);
  });

  test("a URL that another instance signed", async () => {
    const { url } = await parts.startAnother();
    expect((await send(url, await sign())).status).toBe(403);
  });

  test.each(["HEAD", "POST", "PUT"])("the method %s", async (method) => {
    expect((await send(parts.url, await sign(), { method })).status).toBe(405);
  });
});
