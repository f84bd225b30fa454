import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { id, submission } from "../scripts/refresh/support/source-files.ts";
import { columnNames } from "../support/columns.ts";
import { directory, load, select, useDataSets, writeCsv } from "./data-sets.ts";

useDataSets();

describe("a data set with a fault is refused, and the live one stays", () => {
  const faults: [string, () => Promise<void>, RegExp][] = [
    ["no general", () => writeCsv("findings", []), /neither general\.csv nor/],
    [
      "an unknown column",
      () => writeCsv("general", [], [...columnNames("general"), "surprise"]),
      /general\.csv:1: unknown columns "surprise"/,
    ],
    [
      "a missing column",
      () => writeCsv("general", [], ["report_id", "is_public"]),
      /general\.csv:1: missing columns .*auditee_name/,
    ],
    [
      "a column twice",
      () => writeCsv("general", [], [...columnNames("general"), "auditee_name"]),
      /given twice auditee_name/,
    ],
    [
      "an empty file",
      () => writeFile(path.join(directory, "general.csv"), ""),
      /general\.csv:1: the file is empty/,
    ],
    [
      "an HTML page",
      () => writeFile(path.join(directory, "general.csv"), "<!DOCTYPE html><title>Not found</title>\n"),
      /general\.csv:1: unknown columns "<!DOCTYPE html>/,
    ],
    [
      "a bad value",
      () => writeCsv("general", [submission(1), submission(2, { total_amount_expended: "12.5" })]),
      /general\.csv:3: column total_amount_expended, value "12\.5" is not a whole number/,
    ],
    [
      "a report twice",
      () => writeCsv("general", [submission(1), submission(1)]),
      /general\.csv:3: column report_id, value "2023-06-GSAFAC-0000000001" stands there twice: first at .*general\.csv:2/,
    ],
    [
      "a row of an unknown report",
      async () => {
        await writeCsv("general", [submission(1)]);
        await writeCsv("findings", [{ report_id: id(2) }]);
      },
      /findings\.csv:2: column report_id, value "2023-06-GSAFAC-0000000002" is of no report in general/,
    ],
    [
      "a byte that is not UTF-8",
      async () => {
        await writeCsv("general", [submission(1, { auditee_name: "x" })]);
        const { readFile } = await import("node:fs/promises");
        const text = await readFile(path.join(directory, "general.csv"), "latin1");
        await writeFile(path.join(directory, "general.csv"), text.replace(",x,", ",\xff,"), "latin1");
      },
      /general\.csv:2: column auditee_name, value "\\\\xff" has a byte that is not UTF-8/,
    ],
  ];
  it.each(faults)("%s", async (_name, write, message) => {
    await writeCsv("general", [submission(7)]);
    await load();
    await rm(path.join(directory, "general.csv"));
    await write();
    await expect(load()).rejects.toThrow(message);
    expect(await select("select report_id from api_v1_1_0.general")).toEqual([{ report_id: id(7) }]);
    const left = "select nspname from pg_namespace where nspname ~ '_next$|^staging$'";
    expect(await select(left)).toEqual([]);
  });
});
