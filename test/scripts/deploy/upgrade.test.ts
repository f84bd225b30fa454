import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { connect } from "../../../shared/connect.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { createScratchDatabase } from "../../support/scratch-database.ts";
import { publishSample, readAll, useCopy } from "./support.ts";

const copy = useCopy();
const releases = path.resolve(import.meta.dirname, "../../releases");
const recorded = (await readdir(releases)).filter((name) => name.endsWith(".json.gz")).sort();

/** Unpacks the `db` of a release (npm run release:record). */
async function unpack(name: string): Promise<string> {
  const directory = path.join(await makeDirectory(), "db");
  const files: Record<string, string> = JSON.parse(
    gunzipSync(await readFile(path.join(releases, name))).toString(),
  );
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, file)), { recursive: true });
    await writeFile(path.join(directory, file), text);
  }
  return directory;
}

it("has a record of version 1.0.0, from which databases are upgraded", () => {
  expect(recorded[0]).toBe("1.0.0.json.gz");
});

it.each(recorded)("a database of %s is upgraded to this checkout and one migration more", async (release) => {
  const [old, fresh] = [await createScratchDatabase(), await createScratchDatabase()];
  const client = await connect(old.url, "test");
  await deployDatabase(old.url, {}, { directory: await unpack(release), promises: true, takesRights: true });
  await publishSample(client);
  const issue = "select api_key_id from access.issue_key('individual', 'grace@example.gov')";
  const { rows } = await client.query(issue);
  await copy.migrate("alter table access.api_keys add column purpose text");
  const options = { directory: copy.directory, promises: true };
  await deployDatabase(old.url, {}, options);
  await deployDatabase(fresh.url, {}, options);
  const scopes = ["api", "durable"];
  const withoutDataSet = async (url: string) =>
    (await readAll(url, scopes)).filter(({ statement }) => !statement.includes("Data set "));
  expect(await withoutDataSet(old.url)).toEqual(await withoutDataSet(fresh.url));
  const kept = await client.query(
    "select id as api_key_id from access.active_keys where tier = 'individual'",
  );
  expect(kept.rows).toEqual(rows);
  await client.end();
  await Promise.all([old.drop(), fresh.drop()]);
});
