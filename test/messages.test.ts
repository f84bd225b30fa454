import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { ts } from "@ts-morph/common";
import { expect, it } from "vitest";
import { readRepository } from "./support/read-repository.ts";

// Every text that clients, operators and database administrators can meet, in one file that a person can read in one go:
// test/artefacts/messages.txt.

const project = path.resolve(import.meta.dirname, "..");
const folders = ["db", "gateway", "report-service", "scripts", "service", "site"];
/** Turns of phrase that are not English as people say it. */
const oddTurns =
  /\b(?:for|by|to|of|from|with|than|as|if) who\b|\bwho (?:sends|asks|reads|deploys)\b|\bthose that\b|\bthat of\b|\bin place of\b|, nor\b|\blest\b/;

interface Text {
  file: string;
  line: number;
  text: string;
}

it("the texts that people meet are collected, and have no odd turns of phrase", async () => {
  const files = await readRepository(folders, Object.keys(readers));
  const texts = files.flatMap(readTexts);
  await mkdir(path.join(project, "test/artefacts"), { recursive: true });
  const lines = texts.map(({ file, line, text }) => `${file}:${line}  ${text}`);
  await writeFile(path.join(project, "test/artefacts/messages.txt"), `${lines.join("\n")}\n`);
  for (const extension of Object.keys(readers)) {
    expect(texts.some(({ file }) => file.endsWith(extension))).toBe(true);
  }
  expect(lines.filter((_, index) => oddTurns.test(texts[index]?.text ?? ""))).toEqual([]);
});

const readers: Record<string, (source: string, file: string) => { text: string; at: number }[]> = {
  ".ts": readTypeScript,
  ".tsx": readTypeScript,
  ".sql": readSql,
  ".lua": readLua,
};

function readTexts({ file, text: source }: { file: string; text: string }): Text[] {
  return (readers[path.extname(file)]?.(source, file) ?? [])
    .map(({ text, at }) => ({
      file,
      line: source.slice(0, at).split("\n").length,
      text: text.trim().replaceAll("\n", "\n    "),
    }))
    .filter(({ text }) => /^["A-Z].*[a-z]+ [a-z]+ [a-z]+/.test(text) || /[a-z]+ [a-z]+ .*[.:?]$/.test(text));
}

function readTypeScript(source: string, file: string): { text: string; at: number }[] {
  const texts: { text: string; at: number }[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isArrayLiteralExpression(node) && node.elements.every(isText)) {
      const lines = node.elements.map(readText);
      // Lines of one message.
      if (lines.slice(0, -1).some((line) => /( .*){3}[\w,]$/.test(line)))
        return void texts.push({ text: lines.join(" "), at: node.getStart() });
    }
    if (ts.isBinaryExpression(node) && isText(node.left) && isText(node.right))
      return void texts.push({ text: readText(node.left) + readText(node.right), at: node.getStart() });
    if (isText(node)) texts.push({ text: readText(node), at: node.getStart() });
    if (ts.isJsxElement(node) && node.children.some((child) => ts.isJsxText(child) && /\w/.test(child.text)))
      return void texts.push({ text: readJsx(node), at: node.getStart() });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true));
  return texts;
}

type TextNode = ts.StringLiteralLike | ts.TemplateExpression;

const isText = (node: ts.Node): node is TextNode =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

function readText(node: TextNode): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  const spans = node.templateSpans.map((span) => `{${span.expression.getText()}}${span.literal.text}`);
  return node.head.text + spans.join("");
}

/** An element's text as a page shows it: with the texts of the elements in it, in one line. */
function readJsx(node: ts.JsxChild): string {
  if (ts.isJsxText(node)) return node.text.replaceAll(/\s+/g, " ");
  if (ts.isJsxElement(node)) return node.children.map(readJsx).join("");
  if (!ts.isJsxExpression(node) || !node.expression) return "";
  return isText(node.expression) ? readText(node.expression) : node.getText();
}

/** Strings in quotation marks, outside comments. Those that continue on the next line are one text. */
function readSql(source: string): { text: string; at: number }[] {
  return [...source.matchAll(/--[^\n]*|'((?:[^']|''|'\s*\n\s*')*)'/g)]
    .filter(([, text]) => text !== undefined)
    .map((match) => ({
      text: (match[1] ?? "")
        .replaceAll(/'\s*\n\s*'/g, "")
        .replaceAll("''", "'")
        .replaceAll("\\n", "\n")
        .replace(/^[: ]+/, ""),
      at: match.index,
    }));
}

/** Strings in quotation marks, outside comments. Those that are concatenated are one text. */
function readLua(source: string): { text: string; at: number }[] {
  const string = String.raw`(?:[^"\\\n]|\\.)*`;
  const join = String.raw`"\s*\.\.\s*(?:([\w.]+)\s*\.\.\s*)?"`;
  const chain = new RegExp(`--[^\n]*|"(${string}(?:${join}${string})*)"`, "g");
  return [...source.matchAll(chain)]
    .filter(([, text]) => text !== undefined)
    .map((match) => ({
      text: (match[1] ?? "")
        .replaceAll(new RegExp(join, "g"), (_all, name) => (name ? `{${name}}` : ""))
        .replaceAll('\\"', '"'),
      at: match.index,
    }));
}
