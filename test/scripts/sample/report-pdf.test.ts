import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { inflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type Report, writeReportPdf, writeReportPdfs, writeSample } from "../../../scripts/sample/index.ts";
import { withDirectory } from "./read-sample.ts";

const general = {
  report_id: "2023-06-GSAFAC-0000000005",
  auditee_name: "MUNICIPIO DE AÑASCO",
  audit_year: "2023",
  fy_start_date: "2022-07-01",
  fy_end_date: "2023-06-30",
  fac_accepted_date: "2024-01-13",
  total_amount_expended: 1234567,
};
const awards = Array.from({ length: 75 }, (_, i) => ({
  award_reference: `AWARD-${String(i + 1).padStart(4, "0")}`,
  federal_agency_prefix: "93",
  federal_award_extension: "778",
  federal_program_name: "MEDICAL ASSISTANCE PROGRAM",
  amount_expended: "-2500",
}));
const findings = [{ award_reference: "AWARD-0001", reference_number: "2023-001", is_material_weakness: "Y" }];

describe("the PDF of a report", () => {
  it("says what it is about, on every page that it is a sample", async () => {
    const bytes = await makePdf({ general, awards, findings });
    expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
    expect(bytes.toString("latin1").trimEnd().endsWith("%%EOF")).toBe(true);
    const pages = readPages(bytes);
    const text = pages.join("\n");
    for (const part of [
      "2023-06-GSAFAC-0000000005",
      "MUNICIPIO DE AÑASCO",
      "2022-07-01 to 2023-06-30",
      "$1,234,567",
    ]) {
      expect(text).toContain(part);
    }
    for (const part of [
      "93.778",
      "MEDICAL ASSISTANCE PROGRAM",
      "-$2,500",
      "and 15 more",
      "material weakness",
    ]) {
      expect(text).toContain(part);
    }
    expect(pages).toHaveLength(2);
    for (const page of pages) expect(page).toContain("Generated sample document");
  });

  it("has the same bytes for the same report", async () => {
    expect(await makePdf({ general, awards, findings })).toEqual(
      await makePdf({ general, awards, findings }),
    );
  });

  it("needs no more than a row of general, even one that is nearly empty", async () => {
    const [page = ""] = readPages(
      await makePdf({ general: { report_id: "2022-06-CENSUS-0000000009" }, awards: [] }),
    );
    expect(page).toContain("2022-06-CENSUS-0000000009");
    expect(page).toContain("None on record.");
  });

  it("spells letters that the fonts lack without their accents", async () => {
    const [page = ""] = readPages(
      await makePdf({ general: { ...general, auditee_name: "Kāneʻohe “Łódź” 市" }, awards: [] }),
    );
    expect(page).toContain("Kane‘ohe “?ódz” ?");
  });

  it("fails when it cannot be written", async () => {
    const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error("disk full")) });
    await expect(writeReportPdf({ general, awards }, broken)).rejects.toThrow("disk full");
  });
});

describe("the PDFs of a directory", () => {
  it("are written for every report, public or suppressed, superseded ones too", () =>
    withDirectory(async (directory) => {
      const output = path.join(directory, "reports");
      await writeSample({ directory, submissions: 60 });
      expect(await writeReportPdfs({ directory, output })).toBe(67);
      const names = await readdir(output);
      expect(names).toHaveLength(67);
      expect(names).toContain("2023-06-GSAFAC-0000000002.pdf");
      expect(names).toContain("2023-06-GSAFAC-0000000079.pdf");
      const text = readPages(await readFile(path.join(output, "2023-06-GSAFAC-0000000002.pdf"))).join("\n");
      expect(text).toContain("COUNTY OF SIERRA VISTA");
      expect(text).toMatch(/AWARD-0+24/);
      expect(text).toContain("2023-004");
    }));

  it("are made of year files that overlap, in any order, with most columns empty", () =>
    withDirectory(async (directory) => {
      const one = "report_id,auditee_name\n2023-06-GSAFAC-0000000001,ONE\n";
      const both = `${one}2023-06-GSAFAC-0000000007,"TWO, ""INC."""\n`;
      const award = "AWARD-0001,2023-06-GSAFAC-0000000001,10\n";
      await writeFile(path.join(directory, "2023-general.csv"), one);
      await writeFile(path.join(directory, "2024-general.csv"), `\u{feff}${both}`);
      await writeFile(
        path.join(directory, "2023-federal_awards.csv"),
        `award_reference,report_id,amount_expended\n${award}`,
      );
      await writeFile(
        path.join(directory, "2024-federal_awards.csv"),
        `award_reference,report_id,amount_expended\n${award}`,
      );
      const output = path.join(directory, "reports");
      expect(await writeReportPdfs({ directory, output })).toBe(2);
      const first = readPages(await readFile(path.join(output, "2023-06-GSAFAC-0000000001.pdf"))).join("\n");
      expect(first.match(/AWARD-0001/g)).toHaveLength(1);
    }));

  it.each([
    [
      "a page of HTML saved as CSV",
      "<!doctype html>\n<html></html>\n",
      /general\.csv is no table of this data set/,
    ],
    ["a report ID that is a path", "report_id,is_public\n../../evil,t\n", /report ID "\.\.\/\.\.\/evil"/],
    [
      "a line with too few columns",
      "report_id,is_public\n2023-06-GSAFAC-0000000001\n",
      /general\.csv: .*line 2/,
    ],
  ])("are refused for %s", (_, text, message) =>
    withDirectory(async (directory) => {
      await writeFile(path.join(directory, "general.csv"), text);
      const output = path.join(directory, "reports");
      await expect(writeReportPdfs({ directory, output })).rejects.toThrow(message);
      expect(await readdir(output)).toEqual([]);
    }),
  );

  it("are whole or not there when it is aborted", () =>
    withDirectory(async (directory) => {
      const output = path.join(directory, "reports");
      await writeSample({ directory, submissions: 60 });
      const controller = new AbortController();
      const onProgress = (done: number) => done === 10 && controller.abort();
      await expect(
        writeReportPdfs({ directory, output, signal: controller.signal, onProgress }),
      ).rejects.toThrow(/abort/i);
      const names = await readdir(output);
      expect(names.length).toBeLessThan(20);
      for (const name of names) expect(name).toMatch(/\.pdf$/);
    }));
});

async function makePdf(report: Report): Promise<Buffer> {
  const stream = new PassThrough();
  const [bytes] = await Promise.all([buffer(stream), writeReportPdf(report, stream)]);
  return bytes;
}

/** The text of each page: what is shown with hexadecimal strings, one a line. */
function readPages(pdf: Buffer): string[] {
  const streams = pdf.toString("latin1").matchAll(/stream\n([\s\S]*?)\nendstream/g);
  return Array.from(streams, ([, body = ""]) => {
    const operators = inflateSync(Buffer.from(body, "latin1")).toString("latin1");
    return Array.from(operators.matchAll(/\[(.*?)\] TJ/g), ([, parts = ""]) => {
      const hex = Array.from(parts.matchAll(/<([0-9a-f]+)>/g), ([, digits = ""]) => digits).join("");
      return decodeWinAnsi(Buffer.from(hex, "hex"));
    }).join("\n");
  });
}

/** Of what Windows-1252 has beyond Latin-1, the characters these tests look for. */
function decodeWinAnsi(bytes: Buffer): string {
  const extras: Record<string, string> = { "\u0085": "…", "\u0091": "‘", "\u0093": "“", "\u0094": "”" };
  return bytes.toString("latin1").replace(/[\u0080-\u009f]/g, (character) => extras[character] ?? "?");
}
