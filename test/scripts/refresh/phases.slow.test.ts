import { describe, expect, it } from "vitest";
import { connect } from "../../../shared/connect.ts";
import { lost, silent, useFaults } from "./support/faults.ts";
import { type Edits, withDefinitions } from "./support/refresh.ts";

// In each phase, a fault ends the refresh with a reason, frees its lock, and leaves the live data set as it is.

const { here, refresh, disturb, fail, terminate, listSessions, cancelSleep, databaseWire } = useFaults();

const phases = [
  "Reading",
  "general.csv: ",
  "Checking",
  "Building",
  "Vacuuming",
  "Writing the bulk files",
  "Publishing",
];
describe.each(phases)("at “%s”,", (phase) => {
  it.each<[string, string, () => unknown]>([
    ["a database that stops answering", silent, () => databaseWire().hold()],
    ["a network that is cut", "", () => databaseWire().refuse()],
    ["a session that is terminated", "", terminate],
  ])("%s ends the refresh, and the next one succeeds", async (_what, reason, act) => {
    expect(await fail(() => disturb(phase, act))).toMatch(new RegExp(`^${lost}.*${reason}`));
    expect(await refresh()).toBe("published");
  });
});

it.each(["staging", "reject_rows", "build", "publish", "go_live"])(
  "a statement that is canceled in %s.sql ends the refresh",
  async (name) => {
    const edits: Edits = { [`${name}.sql`]: (sql) => `${sql}\nselect pg_sleep(30);\n` };
    const run = async () => {
      const running = withDefinitions(edits, () => refresh());
      await cancelSleep();
      return running;
    };
    expect(await fail(run)).toMatch(/^A statement of the refresh was canceled: .*user request/);
  },
);

it("a PostgreSQL that crashes and restarts ends the refresh, and the next one succeeds", async () => {
  const crash = async () => {
    const [pid] = await listSessions();
    // The server then ends all sessions and recovers.
    process.kill(Number(pid), "SIGKILL");
  };
  const reason = await disturb("Building", crash);
  expect(reason).toMatch(new RegExp(`^${lost}`));
  await expect.poll(() => refresh()).toBe("published");
  Object.assign(here.database, { client: await connect(here.database.url, "test") });
});
