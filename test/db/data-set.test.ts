import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findFiles } from "../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../scripts/refresh/load-data-set.ts";
import * as sourceFiles from "../scripts/refresh/support/source-files.ts";
import { columnNames } from "../support/columns.ts";
import { useDeployedDatabase } from "../support/scratch-database.ts";

const { id, submission } = sourceFiles;
type Row = sourceFiles.Row;

const database = useDeployedDatabase();
let files: Awaited<ReturnType<typeof sourceFiles.makeDirectory>>;
beforeEach(async () => {
  files = await sourceFiles.makeDirectory();
});
afterEach(async () => {
  await files.remove();
  await database.client.query("truncate publication.suppressed_reports");
});

const writeCsv = (table: string, rows: Row[], columns = columnNames(table)) =>
  sourceFiles.writeCsv(files.directory, table, rows, { columns });

/** Publishes what is in the directory. */
async function load() {
  const { client } = database;
  await client.query("set role publisher");
  try {
    return await loadDataSet(client, { source: files.directory, files: await findFiles(files.directory) });
  } finally {
    await client.query("reset role");
  }
}

const select = async (sql: string) => (await database.client.query(sql)).rows;

describe("a data set", () => {
  it("has totals of its public rows, by state and by agency", async () => {
    const of = (number: number, more: Row = {}) =>
      submission(number, { audit_year: "2023", auditee_state: "CA", ...more });
    await writeCsv("general", [
      of(1),
      of(2),
      of(3, { is_public: "f" }),
      of(4, { resubmission_status: "deprecated_via_resubmission" }),
      of(5, { auditee_state: "" }),
    ]);
    const award = (report: number, reference: string, agency: string, amount: string): Row => ({
      report_id: id(report),
      award_reference: reference,
      federal_agency_prefix: agency,
      amount_expended: amount,
    });
    await writeCsv("federal_awards", [
      award(1, "AWARD-0001", "93", "100"),
      award(1, "AWARD-0002", "93", "-30"),
      award(1, "AWARD-0003", "84", "7"),
      award(2, "AWARD-0001", "84", "1000"),
      award(3, "AWARD-0001", "93", "50000"),
      award(4, "AWARD-0001", "93", "600000"),
    ]);
    const finding = (report: number, reference: string, award: string, isWeakness: string): Row => ({
      report_id: id(report),
      reference_number: reference,
      award_reference: award,
      is_material_weakness: isWeakness,
    });
    await writeCsv("findings", [
      // One finding on three awards, whose number has five digits here.
      finding(1, "2023-001", "AWARD-00001", "N"),
      finding(1, "2023-001", "AWARD-00002", "Y"),
      finding(1, "2023-001", "AWARD-00003", "N"),
      finding(1, "2023-002", "AWARD-0003", "N"),
      finding(3, "2023-001", "AWARD-0001", "Y"),
      finding(4, "2023-001", "AWARD-0001", "Y"),
    ]);
    await load();
    const list = async (table: string) =>
      (await select(`select * from api_v1_1_0.${table}`)).map((row) => Object.values(row).join(" "));
    // Year, state, submissions, awards, dollars, findings, material weaknesses.
    expect(await list("totals_by_state")).toEqual(["2023 CA 2 4 1077 2 1", "2023  1 0 0 0 0"]);
    expect(await list("totals_by_agency")).toEqual(["2023 84 2 2 1007 2 0", "2023 93 1 2 70 1 1"]);
  });

  it("keeps public and suppressed rows apart, and the order of the files", async () => {
    await writeCsv("general", [
      submission(1),
      submission(2, { is_public: "f" }),
      submission(3, { is_public: "" }),
    ]);
    await writeCsv("federal_awards", [
      { report_id: id(1), award_reference: "AWARD-0002", amount_expended: "-5" },
      { report_id: id(2), award_reference: "AWARD-0001" },
      { report_id: id(1), award_reference: "AWARD-0001" },
    ]);
    const { counts } = await load();
    expect(counts.general).toEqual({ disclosed: 1, suppressed: 2 });
    expect(await select("select report_id from suppressed.general")).toEqual([
      { report_id: id(2) },
      { report_id: id(3) },
    ]);
    expect(await select("select report_id, is_public, audit_year from disclosed.general_stubs")).toEqual([
      { report_id: id(2), is_public: false, audit_year: null },
      { report_id: id(3), is_public: false, audit_year: null },
    ]);
    expect(await select("select award_reference from disclosed.federal_awards")).toEqual([
      { award_reference: "AWARD-0002" },
      { award_reference: "AWARD-0001" },
    ]);
    expect(await select("select report_id from suppressed.federal_awards")).toEqual([{ report_id: id(2) }]);
  });

  it("keeps the order of narratives of very different lengths", async () => {
    await writeCsv("general", [submission(1)]);
    const texts = Array.from({ length: 3000 }, (_, index) => ({
      report_id: id(1),
      finding_ref_number: String(index),
      finding_text: "x".repeat((index * 7919) % 1900),
    }));
    await writeCsv("findings_text", texts);
    await load();
    const rows = await select("select finding_ref_number from disclosed.findings_text");
    expect(rows.map(({ finding_ref_number }) => Number(finding_ref_number))).toEqual(
      texts.map((_, index) => index),
    );
  });

  it("takes columns in any order, and the submission's own columns from general where a file lacks them", async () => {
    await writeCsv("general", [submission(1)], [...columnNames("general")].reverse());
    await writeCsv(
      "findings_text",
      [{ report_id: id(1), finding_text: '"a, ""b""\nc"' }],
      ["finding_text", "report_id", "finding_ref_number", "contains_chart_or_table"],
    );
    await load();
    expect(
      await select(
        "select auditee_uei, audit_year, fac_accepted_date::text, finding_text from disclosed.findings_text",
      ),
    ).toEqual([
      { auditee_uei: "UEI1", audit_year: "2023", fac_accepted_date: "2024-01-31", finding_text: 'a, "b"\nc' },
    ]);
  });

  it("tells null from the empty string, and knows both spellings of booleans", async () => {
    await writeCsv("general", [
      submission(1, { is_public: "True", auditee_city: '""' }),
      submission(2, { is_public: "False" }),
    ]);
    await load();
    expect(
      await select(
        "select auditee_city, auditee_name, cognizant_agency, resubmission_version from disclosed.general",
      ),
    ).toEqual([{ auditee_city: "", auditee_name: null, cognizant_agency: "", resubmission_version: "0" }]);
    expect(await select("select report_id from suppressed.general")).toEqual([{ report_id: id(2) }]);
  });

  it("computes what others compute at each query", async () => {
    await writeCsv("general", [submission(1), submission(2)]);
    await writeCsv("additional_eins", [{ report_id: id(1), additional_ein: "123456789" }]);
    await writeCsv("secondary_auditors", [{ report_id: id(2) }]);
    await load();
    expect(await select("select is_multiple_eins, is_secondary_auditors from disclosed.general")).toEqual([
      { is_multiple_eins: "Yes", is_secondary_auditors: "No" },
      { is_multiple_eins: "No", is_secondary_auditors: "Yes" },
    ]);
  });

  it("leaves superseded submissions out everywhere but in resubmission", async () => {
    await writeCsv("general", [
      submission(1, { resubmission_status: "deprecated_via_resubmission", fac_accepted_date: "2023-01-01" }),
      submission(2, { fac_accepted_date: "2023-06-01" }),
      submission(3, { resubmission_status: "most_recent", fac_accepted_date: "2024-01-01" }),
    ]);
    await writeCsv(
      "federal_awards",
      [1, 2, 3].map((number) => ({ report_id: id(number) })),
    );
    const chain = (number: number, status: string, previous: string, next: string) => ({
      report_id: id(number),
      version: String(number),
      status,
      previous_report_id: previous,
      next_report_id: next,
    });
    await writeCsv("resubmission", [
      chain(3, "most_recent", id(2), ""),
      chain(2, "deprecated_via_resubmission", id(1), id(3)),
      chain(1, "deprecated_via_resubmission", "", id(2)),
    ]);
    await load();
    expect(await select("select report_id from disclosed.general")).toEqual([{ report_id: id(3) }]);
    expect(await select("select report_id from disclosed.federal_awards")).toEqual([{ report_id: id(3) }]);
    const dates = "select report_id, original_submission_date::text as date from disclosed.resubmission";
    expect(await select(dates)).toEqual(
      [3, 2, 1].map((number) => ({ report_id: id(number), date: "2023-01-01" })),
    );
  });

  it("ends on a circular chain", async () => {
    await writeCsv("general", [submission(1), submission(2)]);
    await writeCsv("resubmission", [
      { report_id: id(1), previous_report_id: id(2) },
      { report_id: id(2), previous_report_id: id(1) },
    ]);
    await load();
    expect(await select("select report_id, previous_report_id from disclosed.resubmission")).toEqual([
      { report_id: id(1), previous_report_id: id(2) },
      { report_id: id(2), previous_report_id: id(1) },
    ]);
  });
});

interface Chain {
  /** Oldest first: P is a public submission, s a suppressed one. */
  members: string;
  /** Of the submissions. */
  numbers: number[];
}

/** What the source files say of a chain of resubmissions. */
function describeChain({ members, numbers }: Chain) {
  const status = (index: number) =>
    index < members.length - 1 ? "deprecated_via_resubmission" : "most_recent";
  const isVersioned = members.length > 1;
  const rows: Row[] = numbers.map((number, index) => ({
    ...submission(number, {
      fac_accepted_date: `2024-0${number % 10}-01`,
      is_public: members[index] === "P" ? "t" : "f",
    }),
    ...(isVersioned && { resubmission_version: String(index + 1), resubmission_status: status(index) }),
  }));
  const links = rows.map(({ report_id = "" }, index) => ({
    report_id,
    version: String(index + 1),
    status: status(index),
    previous_report_id: rows[index - 1]?.report_id ?? "",
    next_report_id: rows[index + 1]?.report_id ?? "",
  }));
  return { rows, links: isVersioned ? links : [] };
}

async function publishChains(chains: Chain[]): Promise<void> {
  const all = chains.map(describeChain);
  const rows = all.flatMap((chain) => chain.rows);
  await writeCsv("general", rows);
  await writeCsv(
    "federal_awards",
    rows.map(({ report_id = "" }) => ({ report_id, award_reference: "AWARD-0001" })),
  );
  await writeCsv(
    "resubmission",
    all.flatMap(({ links }) => links),
  );
  await load();
}

async function readAsPublic() {
  await database.client.query("begin; set local role api_public");
  const seen = {
    general: await select("select * from api_v1_1_0.general where is_public"),
    awards: await select("select * from api_v1_1_0.federal_awards"),
    resubmission: await select("select * from api_v1_1_0.resubmission"),
  };
  await database.client.query("commit");
  return seen;
}

describe("a chain of public and suppressed submissions", () => {
  const chains = ["Ps", "sP", "PsP", "PPs", "sPP", "sPs", "PssP", "PsPs", "sPPsP"].map(
    (members, index): Chain => ({ members, numbers: [...members].map((_, at) => 10 * index + at + 1) }),
  );
  const takePublic = ({ members, numbers }: Chain): Chain => {
    const kept = numbers.filter((_, index) => members[index] === "P");
    return { members: "P".repeat(kept.length), numbers: kept };
  };

  /** What is read of all of them: of their public members alone, and of the whole chains. */
  async function publishBoth() {
    await publishChains(chains.map(takePublic));
    const alone = await readAsPublic();
    await publishChains(chains);
    return {
      alone,
      whole: await readAsPublic(),
      suppressed: await select(
        `select report_id, version, status, coalesce(previous_report_id, '') as previous_report_id,
           coalesce(next_report_id, '') as next_report_id from suppressed.resubmission`,
      ),
      stubs: await select("select report_id from disclosed.general_stubs"),
    };
  }
  let both: ReturnType<typeof publishBoth> | undefined;

  it.each(chains)("$members is told to the public as its public members alone would be", async (chain) => {
    both ??= publishBoth();
    const { alone, whole, suppressed, stubs } = await both;
    const { members, numbers } = chain;
    const ids = numbers.map(id);
    const pick = (rows: Row[]) => rows.filter(({ report_id = "" }) => ids.includes(report_id));
    const pickAll = (read: typeof alone) => Object.values(read).map((rows) => pick(rows));

    const count = takePublic(chain).numbers.length;
    expect(pick(alone.general)).toHaveLength(1);
    expect(pick(alone.resubmission)).toHaveLength(count === 1 ? 0 : count);
    expect(pickAll(whole)).toEqual(pickAll(alone));
    // To who may see them, suppressed submissions keep what the files say.
    const kept = describeChain(chain).links.filter((_, index) => members[index] === "s");
    expect(pick(suppressed)).toEqual(kept);
    expect(pick(stubs)).toEqual(members.endsWith("s") ? [{ report_id: ids.at(-1) }] : []);
  });

  it("is one as well where a single side names the link", async () => {
    await writeCsv("general", [
      submission(1, { resubmission_version: "1", resubmission_status: "deprecated_via_resubmission" }),
      submission(2, { is_public: "f" }),
    ]);
    await writeCsv("resubmission", [
      { report_id: id(1), version: "1", status: "deprecated_via_resubmission" },
      { report_id: id(2), version: "2", status: "most_recent", previous_report_id: id(1) },
    ]);
    await load();
    const { general, resubmission } = await readAsPublic();
    expect(general).toMatchObject([
      { report_id: id(1), resubmission_version: "0", resubmission_status: null },
    ]);
    expect(resubmission).toEqual([]);
  });
});
