import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { Command } from "commander";
import { readFiles } from "./deploy/read-files.ts";
import { releasedFile, writeReleased } from "./deploy/released-migrations.ts";

new Command("npm run release:record")
  .description(
    "Records what the version in package.json deploys: the checksums of its migrations, which may not change from then on, and a copy of db/ in test/releases, from which a test upgrades. Run it once, in the commit that is tagged.",
  )
  .allowExcessArguments(false)
  .parse();

const project = path.resolve(import.meta.dirname, "..");
const directory = path.join(project, "db");
const releases = path.join(project, "test/releases");
const deployed = ["api", "contracts", "data_set", "functions", "migrations"];

const { version } = JSON.parse(await readFile(path.join(project, "package.json"), "utf8"));
await writeReleased(directory, (await readFiles(directory)).migrations);
const names = (await readdir(directory, { recursive: true })).filter(
  (name) => deployed.includes(name.split(path.sep)[0] ?? "") && /\.(sql|json|txt)$/.test(name),
);
const texts = await Promise.all(names.sort().map((name) => readFile(path.join(directory, name), "utf8")));
const copy = Object.fromEntries(names.map((name, index) => [name, texts[index]]));
await mkdir(releases, { recursive: true });
await writeFile(path.join(releases, `${version}.json.gz`), gzipSync(JSON.stringify(copy), { level: 9 }));
process.stdout.write(`Recorded db/${releasedFile} and test/releases/${version}.json.gz. Commit both.\n`);
