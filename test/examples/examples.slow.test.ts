import { readdir, readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type Client, clients, parseRows } from "./clients.ts";
import { newName, newReports } from "./data-sets.ts";
import {
  ask,
  directory,
  expectWholeTable,
  inDirectory,
  json,
  listCommands,
  proxyTo,
  readPublic,
  refuse,
  run,
  sort,
  stack,
  swapBefore,
  useTwoDataSets,
} from "./set-up.ts";

useTwoDataSets();

for (const { language, missing } of clients) {
  if (missing === undefined) continue;
  process.stderr.write(`The ${language} client was not run: ${missing} is not on this machine.\n`);
}

const present = clients.filter(({ missing }) => missing === undefined);

describe.each(present)("the $language client", (client) => {
  describe("query", () => {
    it("prints what the API answers to the filters", async () => {
      const [first] = parseRows(await ask("/general?is_public=is.true&limit=1", "csv"), "csv");
      const { audit_year = "", auditee_state = "" } = first ?? {};
      const { code, stdout, stderr } = await run(client, ["query", audit_year, auditee_state], {
        PAGE_SIZE: "2",
      });
      expect([code, stderr]).toEqual([0, ""]);
      const expected = await ask(
        `/general?select=report_id,auditee_name,fac_accepted_date,total_amount_expended&audit_year=eq.${audit_year}&auditee_state=eq.${auditee_state}&order=report_id`,
        "csv",
      );
      const rows = parseRows(stdout, client.format);
      expect(rows.length).toBeGreaterThan(3);
      expect(rows).toEqual(parseRows(expected, "csv"));
    });
  });

  describe("walk", () => {
    it("writes all rows", async () => {
      // Texts have line breaks.
      const file = inDirectory("walk");
      const { code, stderr } = await run(client, ["walk", "findings_text", file]);
      expect([code, stderr]).toEqual([0, expect.stringMatching(/^[^\n]+\n$/)]);
      await expectWholeTable(client, file, "findings_text");
      expect(await readdir(directory)).toEqual(["walk"]);
    });

    it("writes the API's CSV to a file that is called so", async () => {
      const file = inDirectory("walk.csv");
      expect((await run(client, ["walk", "notes_to_sefa", file])).code).toBe(0);
      expect(await readFile(file, "utf8")).toBe(`${await ask("/notes_to_sefa", "csv")}\n`);
    });

    it("begins again when a data set is published in the middle, and holds that one only", async () => {
      const { requests, url } = await swapBefore("100", 1);
      const file = inDirectory("walk");
      const { code } = await run(client, ["walk", "general", file], { API_URL: url });
      expect(code).toBe(0);
      await expectWholeTable(client, file, "general");
      expect(requests.filter(({ status }) => status === 412)).toHaveLength(1);
    });

    it("gives up when that happens again and again, and leaves the file as it was", async () => {
      const { requests, url } = await swapBefore("50");
      const file = inDirectory("walk");
      await writeFile(file, "as it was");
      const { code, stderr } = await run(client, ["walk", "general", file], { API_URL: url });
      expect(code).toBe(1);
      expect(stderr).toMatch(/\nerror: A new data set was published during each of 5 tries\.\n$/);
      expect(requests.map(({ status }) => status)).toEqual([1, 2, 3, 4, 5].flatMap(() => [200, 412]));
      expect(await readFile(file, "utf8")).toBe("as it was");
      expect(await readdir(directory)).toEqual(["walk"]);
    });

    it("does not wait for tomorrow", async () => {
      const { requests, url } = await refuse(429, { "retry-after": "86000" });
      const { code, stderr } = await run(client, ["walk", "general", inDirectory("walk")], { API_URL: url });
      expect(code).toBe(1);
      expect(stderr).toContain("error: 429: not now\n");
      expect(requests).toHaveLength(1);
      expect(await readdir(directory)).toEqual([]);
    });
  });

  describe("sync", () => {
    const written = client.language === "Python" ? ["sync"] : ["sync", "sync.data_set"];

    it("follows the live data set: reports that were added, changed and suppressed, and back", async () => {
      const file = inDirectory("sync");
      const sync = async (env: Record<string, string> = {}) => {
        const { code, stderr } = await run(client, ["sync", file], env);
        expect(code, stderr).toBe(0);
        const rows = sort(await client.readSynced(file));
        expect(rows).toEqual(sort(await readPublic()));
        return rows;
      };
      await stack.makeLive("older");
      const older = await sync();
      expect(older.length).toBeGreaterThan(100);

      await stack.makeLive("newer");
      const { requests, url } = await proxyTo(stack.facts.base_url);
      const newer = await sync({ API_URL: url, PAGE_SIZE: "4" });
      const known = new Map(older.map((row) => [row.report_id, row.auditee_name]));
      const differences = newer.filter((row) => known.get(row.report_id) !== row.auditee_name);
      expect(differences.map((row) => [row.report_id, row.auditee_name])).toEqual(
        [...newReports.map((id) => [id, newName]), [stack.changed, "Another name"]].sort(),
      );
      expect(older.map(({ report_id }) => report_id)).toContain(stack.hidden);
      expect(newer.map(({ report_id }) => report_id)).not.toContain(stack.hidden);
      // 6 reports or a few more, 4 a page.
      expect(requests.length).toBeLessThan(6);

      await sync({ API_URL: url });
      expect(requests.length).toBeLessThan(6);
      await stack.makeLive("older");
      expect(await sync()).toEqual(older);
      expect(await readdir(directory)).toEqual(written);
    });

    it("asks for everything when it is not known what has changed", async () => {
      const file = inDirectory("sync");
      await run(client, ["sync", file]);
      await stack.swap();
      const { requests, url } = await proxyTo(stack.facts.app_url, {
        answer: ({ url: asked }, response) => {
          if (!asked.pathname.endsWith("manifest.json")) return false;
          const manifest = { ...stack.readManifest(), changes: [] };
          response.writeHead(200, json).end(JSON.stringify(manifest, null, 2));
          return true;
        },
      });
      expect((await run(client, ["sync", file], { APP_URL: url })).code).toBe(0);
      expect(sort(await client.readSynced(file))).toEqual(sort(await readPublic()));
      expect(requests).toHaveLength(1);
    });

    it("begins again when a data set is published in the middle", async () => {
      const { requests, url } = await swapBefore("50", 1);
      const file = inDirectory("sync");
      expect((await run(client, ["sync", file], { API_URL: url })).code).toBe(0);
      expect(sort(await client.readSynced(file))).toEqual(sort(await readPublic()));
      expect(requests.filter(({ status }) => status === 412)).toHaveLength(1);
    });
  });

  describe("download", () => {
    const getReport = (which: "public" | "suppressed") => stack.facts.sample[`${which}_report_id`] ?? "";

    it.each(["public", "suppressed"] as const)(
      "gets the PDF of a %s report, with the key sent only to the API and hidden from ps",
      async (which) => {
        const commands: string[] = [];
        const before = () => {
          commands.push(...listCommands());
        };
        const api = await proxyTo(stack.facts.base_url, { before });
        const storage = await proxyTo(stack.facts.app_url, { before });
        const app = await proxyTo(stack.facts.app_url, {
          before,
          changeLocation: (location) => location.replace(stack.facts.app_url, storage.url),
        });
        const isPublic = which === "public";
        const key = stack.facts.keys[isPublic ? "individual" : "tribal"];
        const command = ["download", getReport(which), inDirectory("report.pdf")];
        const env = { API_KEY: key, API_URL: api.url, APP_URL: app.url };
        const { code, stderr } = await run(client, command, env);
        expect(code, stderr).toBe(0);
        const pdf = await readFile(inDirectory("report.pdf"), "latin1");
        expect(pdf.startsWith("%PDF-")).toBe(true);
        expect(pdf.trimEnd().endsWith("%%EOF")).toBe(true);
        expect(await readdir(directory)).toEqual(["report.pdf"]);

        expect(api.requests.map(({ headers }) => headers["x-api-key"])).toEqual(
          isPublic ? [key] : [key, key],
        );
        expect([app.requests.length, storage.requests.length]).toEqual([1, 1]);
        expect(JSON.stringify([app.requests, storage.requests])).not.toContain(key);
        expect(commands.join("\n")).toContain("examples/client.");
        expect(commands.join("\n")).not.toContain(key);
        const accessUuid = app.requests[0]?.url.pathname.split("/ota/")[1];
        expect(accessUuid === undefined).toBe(isPublic);
        if (accessUuid !== undefined) expect(commands.join("\n")).not.toContain(accessUuid);
      },
    );

    it("does not follow a redirect of the API with the key", async () => {
      const elsewhere = await refuse(401);
      const api = await refuse(302, { location: `${elsewhere.url}/general` });
      const { code } = await run(client, ["query", "2023", "CA"], { API_URL: api.url });
      expect(code).toBe(1);
      expect(api.requests[0]?.headers["x-api-key"]).toBe(stack.facts.keys.individual);
      expect(JSON.stringify(elsewhere.requests)).not.toContain(stack.facts.keys.individual);
    });

    it("does not ask for access again after 503", async () => {
      const { requests, url } = await refuse(503, { "retry-after": "1" }, ["POST"]);
      const command = ["download", getReport("suppressed"), inDirectory("report.pdf")];
      const env = { API_KEY: stack.facts.keys.tribal, API_URL: url };
      const { code, stderr } = await run(client, command, env);
      expect([code, stderr]).toEqual([1, "error: 503: not now\n"]);
      expect(requests.map(({ method }) => method)).toEqual(["GET", "POST"]);
    });
  });

  it("fails with one clear line, and leaves nothing behind", async () => {
    const file = inDirectory("file");
    const suppressed = stack.facts.sample.suppressed_report_id ?? "";
    const faults: [RegExp, string[], Record<string, string>?][] = [
      [/^error: 401: [^\n]+\n$/, ["query", "2023", "CA"], { API_KEY: "wrong" }],
      [/^error: 401: [^\n]+\n$/, ["sync", file], { API_KEY: "wrong" }],
      [/^error: 401: This request needs an API key with Tribal access\.\n$/, ["download", suppressed, file]],
      [/^error: 404: [^\n]+ no report [^\n]+\n$/, ["download", "2023-06-GSAFAC-9999999999", file]],
      [/^error: [^\n]+\n$/, ["walk", "general", file], { API_URL: "localhost:8000" }],
      [/^error: [^\n]+\n$/, ["walk", "resubmission", inDirectory("no/such/place")]],
    ];
    const check = async ([stderr, command, env]: (typeof faults)[number]) =>
      expect(await run(client, command, env)).toEqual({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(stderr),
      });
    await Promise.all(faults.map(check));
    expect(await readdir(directory)).toEqual([]);
  });

  it("says how it is used", async () => {
    const { code, stdout } = await run(client, ["--help"]);
    expect(code).toBe(0);
    for (const command of ["query", "walk", "sync", "download"]) expect(stdout).toContain(command);
  });
});

it.each(present.filter(({ format }) => format === "jsonl"))(
  "the $language client writes no file called .csv that holds none",
  async (client) => {
    const { code, stderr } = await run(client, ["sync", inDirectory("sync.csv")]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: sync writes [^\n]+\n$/)]);
    expect(await readdir(directory)).toEqual([]);
  },
);

it("each client asks again after a lost connection, 429 and 503", async () => {
  const check = async (client: Client) => {
    const times: number[] = [];
    const { requests, url } = await proxyTo(stack.facts.base_url, {
      answer: (_request, response, count) => {
        times.push(Date.now());
        if (count === 1) {
          response.writeHead(200, { ...json, "content-length": "1000", "content-range": "0-49/*" });
          response.write("[{");
          setTimeout(() => response.destroy(), 50);
        } else if (count === 2 || count === 3) {
          response.writeHead(count === 2 ? 429 : 503, { ...json, "retry-after": count === 2 ? "2" : "1" });
          response.end('{"message":"not now"}');
        }
        return count >= 1 && count <= 3;
      },
    });
    const file = inDirectory(client.language);
    const { code, stderr } = await run(client, ["walk", "general", file], { API_URL: url });
    expect(code, stderr).toBe(0);
    await expectWholeTable(client, file, "general");
    expect((times[3] ?? 0) - (times[2] ?? 0)).toBeGreaterThanOrEqual(1950);
    expect(requests.slice(1, 5).map(({ url: asked }) => asked.searchParams.get("offset"))).toEqual(
      Array.from({ length: 4 }, () => "50"),
    );
  };
  await Promise.all(present.map(check));
});
