import { expect, it } from "vitest";
import { useRefresh } from "./support/refresh.ts";
import { id, type Row, range, submission } from "./support/source-files.ts";

// Values that are rare but valid. No refresh may refuse them.

const here = useRefresh();

/** A value in a CSV file: an empty text, not null. */
const empty = '""';

async function publish(general: Row[], resubmission: Row[] = []): Promise<void> {
  await here.write("general", general);
  await here.write("resubmission", resubmission);
  const { code, output } = await here.publish("--force", "--accept-shrink", "--accept-growth");
  expect(code, output).toBe(0);
}

it("publishes reports whose state or city is an empty text", async () => {
  await publish([
    submission(1, { auditee_state: empty, auditee_city: empty }),
    submission(2, { auditee_state: "TX" }),
  ]);
  expect(
    await here.list("select array_to_string(terms, ',') from disclosed.search_terms order by report_id"),
  ).toEqual(["2023,city ", "2023,TX"]);
});

it("compares no report with a group of 20 reports that state no year", async () => {
  const peer = { audit_year: "", entity_type: "local", total_amount_expended: "1500000" };
  await publish(range(20, 50).map((number) => submission(number, peer)));
  expect(await here.list("select count(*)::int from disclosed.totals_by_peers")).toEqual([1]);
  expect(await here.list("select publication.choose_newest_peers('local', 1500000)")).toEqual([null]);
});

it("publishes a suppressed report whose UEI is the EIN of a public one, and the reverse", async () => {
  const [ein, uei] = ["123456789", "ABCDEFGHJ123"];
  await publish([
    submission(10, { auditee_uei: uei, auditee_ein: ein }),
    submission(11, { auditee_uei: ein, auditee_ein: uei, is_public: "f" }),
  ]);
});

it("publishes public and suppressed reports with an EIN in place of their UEI", async () => {
  const named = { auditee_ein: "123456780", auditee_name: "Plain Town" };
  await publish([
    submission(20, { ...named, auditee_uei: "123456780" }),
    submission(21, { ...named, auditee_uei: "GSA_MIGRATION" }),
    submission(22, { ...named, auditee_uei: "123456780", is_public: "f" }),
  ]);
});

it("publishes chains with a suppressed report in which the report before or after it has no row", async () => {
  const hidden = { is_public: "f" };
  await publish(
    [
      submission(30),
      submission(31, hidden),
      submission(32),
      submission(40),
      submission(41, hidden),
      submission(42),
    ],
    [
      { report_id: id(31), version: "2", previous_report_id: id(30), next_report_id: id(32) },
      { report_id: id(32), version: "3", status: "most_recent", previous_report_id: id(31) },
      { report_id: id(40), version: "1", status: "deprecated_via_resubmission", next_report_id: id(41) },
      { report_id: id(41), version: "2", previous_report_id: id(40), next_report_id: id(42) },
    ],
  );
  expect(await here.list("select right(report_id, 2) from disclosed.general order by 1")).toEqual([
    "32",
    "42",
  ]);
});

it("publishes programs whose awards have no findings", async () => {
  const award = {
    report_id: id(50),
    award_reference: "AWARD-0001",
    federal_agency_prefix: "93",
    federal_award_extension: "778",
  };
  await here.write("federal_awards", [award]);
  await publish([submission(50)]);
  expect(await here.list("select findings::int from disclosed.totals_by_program")).toEqual([0]);
});
