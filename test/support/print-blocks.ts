import { readFile } from "node:fs/promises";
import { readBlocks, readRows } from "./read-blocks.ts";

// print-blocks.ts FILE HEADING sh|sql [PART]: prints the code blocks of a section that contain PART, for scripts that run them.
// print-blocks.ts FILE HEADING rows: prints the commands in its tables, as lines of the row's label, a tab and the command.
const [file = "", heading = "", language = "", part = ""] = process.argv.slice(2);
const document = await readFile(file, "utf8");
const texts =
  language === "rows"
    ? readRows(document, heading).map((row) => `${row.join("\t")}\n`)
    : readBlocks(document, heading)
        .filter((block) => block.language === language && block.text.includes(part))
        .map(({ text }) => text);
if (texts.length === 0)
  throw new Error(`${file} has no ${language} under "${heading}" that contains "${part}".`);
process.stdout.write(texts.join(""));
