/** A code block of a document. */
export interface Block {
  /** The text between the block and the one before it. */
  prose: string;
  language: string;
  text: string;
}

/** Returns a section of a document: what is under a heading of the second level. */
function readSection(document: string, heading: string): string {
  const [, section] = document.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`The document has no heading "## ${heading}".`);
  return section.split("\n## ")[0] ?? "";
}

/** Returns the code blocks of a section. A block in a list loses its indentation. */
export function readBlocks(document: string, heading: string): Block[] {
  const blocks = readSection(document, heading).matchAll(/([\s\S]*?)^( *)```(\w+)\n([\s\S]*?)^ *```$/gm);
  return Array.from(blocks, ([, prose = "", indentation = "", language = "", text = ""]) => ({
    prose,
    language,
    text: text.replaceAll(new RegExp(`^${indentation}`, "gm"), ""),
  }));
}

/** Returns the rows of a section's tables that have a command: the first cell, without backticks, and the command. */
export function readRows(document: string, heading: string): [label: string, command: string][] {
  const rows = readSection(document, heading).matchAll(/^\| (.*?) \|.*?`((?:docker compose|npm run) .*?)`/gm);
  return Array.from(rows, ([, label = "", command = ""]) => [label.replaceAll("`", ""), command]);
}
