import { beforeEach, expect, it } from "vitest";
import { explainFailure } from "../../../scripts/refresh/explain-failure.ts";
import { type RefreshOptions, refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { useRefresh } from "./support/refresh.ts";
import { id, range, submission } from "./support/source-files.ts";

const here = useRefresh();
const refresh = (accepted: Partial<RefreshOptions>) =>
  here.asPublisher(() =>
    refreshDataSet(here.database.client, { from: here.directory, force: true, ...accepted }),
  );

const fall = "  passthrough would fall from 1000 to 949 rows (5.1% fewer; the limit is 5%).";
const growth = "  passthrough would grow from 1000 to 2001 rows (2.0 times as many; the limit is 2).";
beforeEach(() => here.list("delete from publication.suppressed_reports"));

// The live data set has 200 submissions, 4 of them suppressed, and 1,000 rows in passthrough.
it.each([
  ["loses more than 5% of a table", [200, 4, 949], fall, "--accept-shrink"],
  ["loses 5% of a table", [200, 4, 950], "", ""],
  ["more than doubles a table", [200, 4, 2001], growth, "--accept-growth"],
  ["doubles a table", [200, 4, 2000], "", ""],
  ["more than doubles a small table", [1200, 24, 1000], "", ""],
  ["suppresses a larger share", [200, 7, 1000], "from 2.0% to 3.5%", "--accept-shrink"],
  ["suppresses a smaller share", [800, 4, 1000], "from 2.0% to 0.5%", "--accept-shrink"],
  ["exceeds both limits", [200, 50, 2001], growth, "--accept-shrink --accept-growth"],
])(
  "a data set that differs from the live one is refused only beyond the limits: it %s (%j)",
  async (_what, counts, says, flags) => {
    const prepare = async ([reports = 0, suppressed = 0, rows = 0]: number[]) => {
      const row = (number: number) => submission(number, { is_public: number > suppressed ? "t" : "f" });
      await here.write("general", range(reports).map(row));
      const report = (number: number) => ({ report_id: id((number % 200) + 1) });
      await here.write("passthrough", range(rows).map(report));
    };
    await prepare([200, 4, 1000]);
    await refresh({ acceptShrink: true, acceptGrowth: true });
    await prepare(counts);
    if (flags !== "") {
      const before = await here.liveId();
      const message = await refresh({}).then(() => "It was published.", explainFailure);
      expect(await here.liveId()).toEqual(before);
      expect(message).toMatch(/^This data set differs too much .*, so it was not published\.\n/);
      expect(message).toContain(says);
      expect(message).toContain(`publish them with ${flags}.`);
    }
    const accepted = { acceptShrink: flags.includes("shrink"), acceptGrowth: flags.includes("growth") };
    expect(await refresh(accepted)).toMatchObject({ outcome: "published" });
  },
);
