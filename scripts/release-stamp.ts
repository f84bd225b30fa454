import path from "node:path";
import { Command } from "commander";
import { readRelease } from "./deploy/release.ts";

new Command("npm run release:stamp")
  .description(
    "Prints the release of this checkout as JSON: its commit and the commits that it contains. Pass it to the image build as the argument RELEASE, because an image has no Git.",
  )
  .allowExcessArguments(false)
  .parse();

const release = await readRelease(path.resolve(import.meta.dirname, "../db"));
process.stdout.write(`${JSON.stringify(release)}\n`);
