import { expect, it } from "vitest";
import { target } from "../../support/target.ts";
import { run } from "./support.ts";

it("smoke passes on a deployment that is as it should be, in under 10 seconds", async () => {
  const start = Date.now();
  const { code, output } = await run("smoke", [
    ...["--base-url", target.baseUrl, "--app-url", target.appUrl],
    ...["--key", target.keys.individual, "--tribal-key", target.keys.tribal],
  ]);
  expect(output).toContain("24 of 24 checks passed.");
  expect([code, Date.now() - start < 10_000]).toEqual([0, true]);
});

it("smoke fails where nothing answers, and where keys do not open the API", async () => {
  const away = await run("smoke", ["--base-url", "http://127.0.0.1:1", "--json"]);
  expect(away.code).toBe(1);
  const locked = await run("smoke", ["--base-url", target.baseUrl, "--key", "no-such-key"]);
  expect(locked.code).toBe(1);
  expect(locked.output).toContain("FAIL api_v1_1_0.general has its columns");
  expect(locked.output).toContain("ok   no key gets 401");
});
