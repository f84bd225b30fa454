import { expect, test } from "vitest";
import { hasKubectl, readFiles } from "./read-files.ts";
import { promises } from "./table.ts";

if (!hasKubectl) process.stderr.write("kubectl is not installed, so no overlay was rendered.\n");
const files = readFiles();

for (const { file, promise, read, expected } of promises) {
  const isReadable = hasKubectl || !file.startsWith("deploy/kubernetes");
  test.skipIf(!isReadable)(`${file} ${promise}`, () => expect(read(files)).toEqual(expected));
}

test("every setting of gateway/kong.env is in the table", () => {
  const held = promises.filter(({ file }) => file === "gateway/kong.env").map(({ expected }) => expected);
  const names = held.flatMap((settings) => Object.keys(settings as object).map((name) => `KONG_${name}`));
  expect(names.sort()).toEqual(Object.keys(files.kongEnv).sort());
});
