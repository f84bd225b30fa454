import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { openLog } from "../../../scripts/stack/open-log.ts";
import { makeDirectory } from "../../support/make-directory.ts";

it("keeps the newest lines in two files of bounded size, which only their owner may read", async () => {
  const directory = await makeDirectory();
  const file = path.join(directory, "stack.log");
  const log = await openLog(file, 20_000);
  for (let number = 1; number <= 2_000; number += 1) {
    log("postgresql", `line ${number}, ${"x".repeat(100)}`);
    if (number % 50 === 0)
      await expect
        .poll(
          async () => `${await readFile(`${file}.1`, "utf8").catch(() => "")}${await readFile(file, "utf8")}`,
        )
        .toContain(`line ${number},`);
  }
  expect((await readdir(directory)).sort()).toEqual(["stack.log", "stack.log.1"]);
  for (const each of [file, `${file}.1`]) {
    const { size, mode } = await stat(each);
    expect(size).toBeLessThan(40_000);
    expect(mode & 0o777).toBe(0o600);
  }
});
