import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";

const project = path.resolve(import.meta.dirname, "..");
const read = (file: string) => readFile(path.join(project, file), "utf8");

const documents = ["README.md", "CONTRIBUTING.md"];
for (const name of await readdir(path.join(project, "docs"), { recursive: true })) {
  if (name.endsWith(".md")) documents.push(path.join("docs", name));
}
const { scripts } = JSON.parse(await read("package.json")) as { scripts: Record<string, string> };

/** The anchors that GitHub gives to a document's headings. */
function findAnchors(text: string): string[] {
  const headings = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").match(/(?<=^#+ ).+$/gm) ?? [];
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it.each(documents)("%s names only links, headings and npm scripts that exist", async (document) => {
  const text = await read(document);
  const broken: string[] = [];
  for (const [, link = ""] of text.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)) {
    const [target = "", anchor] = link.split("#");
    const file = target ? path.join(path.dirname(document), target) : document;
    const exists = existsSync(path.join(project, file));
    if (!exists || (anchor && !findAnchors(await read(file)).includes(anchor))) broken.push(link);
  }
  for (const [command, name = ""] of text.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)) {
    if (!(name in scripts)) broken.push(command);
  }
  expect(broken).toEqual([]);
});
