import { readdir, readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { columnNames } from "../support/columns.ts";
import { listProcesses } from "../support/list-processes.ts";
import { clients, parseRows } from "./clients.ts";
import { changed, differences, emptyTable, hidden, suppressed } from "./data-sets.ts";
import {
  ask,
  directory,
  expectWholeTable,
  inDirectory,
  json,
  proxyTo,
  refuse,
  run,
  stack,
  swapBefore,
  sync,
  useTwoDataSets,
} from "./set-up.ts";

useTwoDataSets();

for (const { language, missing } of clients) {
  if (missing === undefined) continue;
  process.stderr.write(`The ${language} client was not tested: ${missing} is not installed.\n`);
}

const present = clients.filter(({ missing }) => missing === undefined);

describe.each(present)("the $language client", (client) => {
  it("prints the rows that match its filters", async () => {
    const { code, stdout, stderr } = await run(client, ["query", "2023", "CA"]);
    expect([code, stderr]).toEqual([0, ""]);
    const columns = "report_id,auditee_name,fac_accepted_date,total_amount_expended";
    const filters = "audit_year=eq.2023&auditee_state=eq.CA&order=report_id";
    const rows = parseRows(stdout, client.format);
    expect(rows.length).toBeGreaterThan(100);
    expect(rows).toEqual(parseRows(await ask(`/general?select=${columns}&${filters}`, "csv"), "csv"));
  });

  it("prints column names as CSV, and nothing as JSON lines, if no row matches", async () => {
    const { code, stdout, stderr } = await run(client, ["query", "1999", "CA"]);
    expect([code, stderr]).toEqual([0, ""]);
    const names = "report_id,auditee_name,fac_accepted_date,total_amount_expended\n";
    expect(stdout.replaceAll('"', "")).toBe(client.format === "csv" ? names : "");
  });

  describe("walk", () => {
    const walk = (table: string, file = "walk", env = {}) =>
      run(client, ["walk", table, inDirectory(file)], env);

    it("writes all rows", async () => {
      // The texts in this table contain line breaks.
      const { code, stderr } = await walk("findings_text");
      expect([code, stderr]).toEqual([0, expect.stringMatching(/^[^\n]+\n$/)]);
      await expectWholeTable(client, inDirectory("walk"), "findings_text");
      expect(await readdir(directory)).toEqual(["walk"]);
    });

    it("writes the API's CSV to a file whose name ends in .csv", async () => {
      expect((await walk("notes_to_sefa", "walk.csv")).code).toBe(0);
      expect(await readFile(inDirectory("walk.csv"), "utf8")).toBe(await ask("/notes_to_sefa", "csv"));
    });

    it("writes the column names of a table without rows as CSV, and nothing as JSON lines", async () => {
      for (const file of ["walk", "walk.csv"]) {
        const { code, stderr } = await walk(emptyTable, file);
        expect([code, stderr]).toEqual([0, expect.stringMatching(/^[^\n]+\n$/)]);
        const isCsv = client.format === "csv" || file.endsWith(".csv");
        const names = `${columnNames(emptyTable).join(",")}\n`;
        expect(await readFile(inDirectory(file), "utf8")).toBe(isCsv ? names : "");
      }
    });

    it("starts over if a data set is published midway, and writes only that data set", async () => {
      const { requests, url } = await swapBefore("100");
      expect((await walk("general", "walk", { API_URL: url })).code).toBe(0);
      await expectWholeTable(client, inDirectory("walk"), "general");
      expect(requests.filter(({ status }) => status === 412)).toHaveLength(1);
    });
  });

  describe("sync", () => {
    it("follows the live data set when reports are added, changed and suppressed, and after a rollback", async () => {
      await stack.makeLive("older");
      const older = await sync(client);
      expect(older.length).toBeGreaterThan(100);

      await stack.makeLive("newer");
      const { requests, url } = await proxyTo(stack.facts.base_url);
      const newer = await sync(client, { API_URL: url, PAGE_SIZE: "4" });
      const names = new Map(older.map((row) => [row.report_id, row.auditee_name]));
      const isOther = (row: (typeof newer)[number]) => names.get(row.report_id) !== row.auditee_name;
      const found = newer.filter(isOther).map((row) => [row.report_id, row.auditee_name]);
      expect(found).toEqual(differences);
      const hasHidden = [older, newer].map((rows) => rows.some(({ report_id }) => report_id === hidden));
      expect(hasHidden).toEqual([true, false]);
      // 7 reports or a few more, with 4 on a page.
      expect(requests.length).toBeLessThan(6);

      await sync(client, { API_URL: url });
      expect(requests.length).toBeLessThan(6);
      await stack.makeLive("older");
      expect(await sync(client)).toEqual(older);
      const written = client.language === "Python" ? ["sync"] : ["sync", "sync.data_set"];
      expect(await readdir(directory)).toEqual(written);
    });

    it("starts over if a data set is published midway", async () => {
      const { requests, url } = await swapBefore("50");
      await sync(client, { API_URL: url });
      expect(requests.filter(({ status }) => status === 412)).toHaveLength(1);
    });
  });

  describe("download", () => {
    const reports = { public: changed, suppressed };
    it.each(["public", "suppressed"] as const)(
      "gets the PDF of a %s report, sends the key only to the API, and hides it from ps",
      async (which) => {
        const { base_url, app_url, keys } = stack.facts;
        const commands: string[] = [];
        const before = () => void commands.push(...listProcesses().map(({ command }) => command));
        const api = await proxyTo(base_url, { before });
        const app = await proxyTo(app_url, { before });
        const isPublic = which === "public";
        const key = keys[isPublic ? "individual" : "tribal"];
        const command = ["download", reports[which], inDirectory("report.pdf")];
        const { code, stderr } = await run(client, command, {
          API_KEY: key,
          API_URL: api.url,
          APP_URL: app.url,
        });
        expect(code, stderr).toBe(0);
        expect(await readFile(inDirectory("report.pdf"), "latin1")).toMatch(/^%PDF-.*%%EOF\s*$/s);
        expect(await readdir(directory)).toEqual(["report.pdf"]);

        const sentKeys = api.requests.map(({ headers }) => headers["x-api-key"]);
        expect(sentKeys).toEqual(isPublic ? [key] : [key, key]);
        // The redirect, then the signed URL.
        expect(app.requests.map(({ status }) => status)).toEqual([302, 200]);
        expect(JSON.stringify(app.requests)).not.toContain(key);
        const accessUuid = app.requests[0]?.url.pathname.split("/ota/")[1];
        expect(accessUuid === undefined).toBe(isPublic);
        expect(commands.join("\n")).toContain("examples/client.");
        for (const secret of [key, accessUuid ?? key]) expect(commands.join("\n")).not.toContain(secret);
      },
    );

    it("does not send the key to the target of a redirect", async () => {
      const elsewhere = await refuse(401);
      const api = await refuse(302, { location: `${elsewhere.url}/general` });
      const { code } = await run(client, ["query", "2023", "CA"], { API_URL: api.url });
      expect(code).toBe(1);
      expect(api.requests[0]?.headers["x-api-key"]).toBe(stack.facts.keys.individual);
      expect(JSON.stringify(elsewhere.requests)).not.toContain(stack.facts.keys.individual);
    });

    it("does not repeat a request for file access after 503", async () => {
      const { requests, url } = await refuse(503, { "retry-after": "1" }, ["POST"]);
      const command = ["download", suppressed, inDirectory("report.pdf")];
      const env = { API_KEY: stack.facts.keys.tribal, API_URL: url };
      const { code, stderr } = await run(client, command, env);
      expect([code, stderr]).toEqual([1, "error: 503: not now\n"]);
      expect(requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
    });
  });

  it("fails with a one-line error, and leaves no file behind", async () => {
    const file = inDirectory("file");
    const faults: [RegExp, string[], Record<string, string>?][] = [
      [/^error: 401: [^\n]+\n$/, ["query", "2023", "CA"], { API_KEY: "wrong" }],
      [/^error: 401: [^\n]+\n$/, ["sync", file], { API_KEY: "wrong" }],
      [
        /^error: 401: This request needs an API key with Tribal access\. [^\n]+\n$/,
        ["download", suppressed, file],
      ],
      [/^error: 404: [^\n]+ `general`[^\n]*\n$/, ["walk", "generl", file]],
      [/^error: 404: [^\n]+ no report [^\n]+\n$/, ["download", "2023-06-GSAFAC-9999999999", file]],
      [/^error: [^\n]+\n$/, ["walk", "general", file], { API_URL: "localhost:8000" }],
      [/^error: [^\n]+\n$/, ["walk", "resubmission", inDirectory("no/such/place")]],
    ];
    if (client.format === "jsonl")
      faults.push([/^error: sync writes [^\n]+\n$/, ["sync", inDirectory("sync.csv")]]);
    const check = async ([fault, command, env]: (typeof faults)[number]) => {
      const stderr = expect.stringMatching(fault);
      expect(await run(client, command, env)).toEqual({ code: 1, stdout: "", stderr });
    };
    await Promise.all(faults.map(check));
    expect(await readdir(directory)).toEqual([]);
  });
});

it("each client tries five times or more, keeps its files and says why, if no data set is published", async () => {
  const message = "No data set has been published yet.";
  const check = async (client: (typeof clients)[number]) => {
    const file = inDirectory(`${client.language}.${client.format}`);
    await writeFile(file, "kept");
    for (const command of ["walk", "sync"]) {
      const { requests, url } = await refuse(503, { "retry-after": "1" }, ["GET"], message);
      const args = command === "walk" ? ["walk", "general", file] : ["sync", file];
      const { code, stderr } = await run(client, args, { API_URL: url, APP_URL: url });
      expect([code, stderr.trim().split("\n").at(-1)]).toEqual([1, `error: 503: ${message}`]);
      expect(requests.length).toBeGreaterThanOrEqual(5);
      expect(await readFile(file, "utf8")).toBe("kept");
    }
  };
  await Promise.all(present.map(check));
});

it("each client retries after a lost connection, 429 and 503", async () => {
  const check = async (client: (typeof clients)[number]) => {
    const times: number[] = [];
    const { requests, url } = await proxyTo(stack.facts.base_url, {
      answer: (_request, response, count) => {
        times.push(Date.now());
        const status = [undefined, 200, 429, 503][count];
        if (status === undefined) return false;
        const retryAfter = { "retry-after": status === 429 ? "2" : "1" };
        response.writeHead(status, { ...json, ...retryAfter, "content-length": "21" });
        // The connection breaks during the 200 response.
        if (status === 200) response.write("[{", () => setTimeout(() => response.destroy(), 50));
        else response.end('{"message":"not now"}');
        return true;
      },
    });
    const file = inDirectory(client.language);
    const { code, stderr } = await run(client, ["walk", "general", file], { API_URL: url });
    expect(code, stderr).toBe(0);
    await expectWholeTable(client, file, "general");
    expect((times[3] ?? 0) - (times[2] ?? 0)).toBeGreaterThanOrEqual(1950);
    const offsets = requests.slice(1, 5).map(({ url: asked }) => asked.searchParams.get("offset"));
    expect(offsets).toEqual(["50", "50", "50", "50"]);
  };
  await Promise.all(present.map(check));
});
