import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { ts } from "@ts-morph/common";
import { expect, it } from "vitest";
import { readRepository } from "./support/read-repository.ts";

// Collects every text that clients, operators and database administrators may see into test/artefacts/messages.txt, so
// that one person can review them all.

const project = path.resolve(import.meta.dirname, "..");
const folders = ["db", "deploy", "gateway", "ops", "report-service", "scripts", "shared", "site"];
/** Phrases that are not idiomatic English. */
const oddTurns =
  /\b(?:for|by|to|of|from|with|than|as|if) who\b|\bwho (?:sends|asks|reads|deploys)\b|\bthose that\b|\bthat of\b|\bin place of\b|, nor\b|\blest\b/;

it("texts that users may see are collected, and contain no unidiomatic phrases", async () => {
  const files = await readRepository(folders, Object.keys(readers));
  const texts = files.flatMap(readTexts);
  await mkdir(path.join(project, "test/artefacts"), { recursive: true });
  const lines = texts.map(({ file, line, text }) => `${file}:${line}  ${text}`);
  await writeFile(path.join(project, "test/artefacts/messages.txt"), `${lines.join("\n")}\n`);
  for (const extension of Object.keys(readers))
    expect(texts.some(({ file }) => file.endsWith(extension))).toBe(true);
  expect(lines.filter((_, index) => oddTurns.test(texts[index]?.text ?? ""))).toEqual([]);
});

it("--help says which options are required", async () => {
  const sources = (await readRepository(["scripts"], [".ts"])).map(({ text }) => text).join();
  const required = [...sources.matchAll(/\.requiredOption\(\s*("[^"]+",\s*"[^"]+")/g)].map(
    ([, text]) => text,
  );
  expect(required).toContainEqual(expect.stringMatching(/^"--metrics-port/));
  expect(required.filter((text) => !text?.includes("(required"))).toEqual([]);
});

const readers: Record<string, (source: string, file: string) => { text: string; at: number }[]> = {
  ".ts": readTypeScript,
  ".tsx": readTypeScript,
  ".sql": readSql,
  ".lua": readLua,
  ".sh": readLua,
  ".yml": readYaml,
  ".yaml": readYaml,
};

function readTexts({ file, text: source }: { file: string; text: string }) {
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
      // The elements are lines of one message.
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

/** Returns an element's text as a page shows it: on one line, with the text of nested elements. */
function readJsx(node: ts.JsxChild): string {
  if (ts.isJsxText(node)) return node.text.replaceAll(/\s+/g, " ");
  if (ts.isJsxElement(node)) return node.children.map(readJsx).join("");
  if (!ts.isJsxExpression(node) || !node.expression) return "";
  return isText(node.expression) ? readText(node.expression) : node.getText();
}

/** Finds quoted strings outside comments. Strings that continue on the next line are one text. */
function readSql(source: string) {
  return findQuoted(source, /--[^\n]*|'((?:[^']|''|'\s*\n\s*')*)'/g, (text) =>
    text
      .replaceAll(/'\s*\n\s*'/g, "")
      .replaceAll("''", "'")
      .replaceAll("\\n", "\n")
      .replace(/^[: ]+/, ""),
  );
}

/** Finds quoted strings outside comments. Concatenated strings are one text. */
function readLua(source: string) {
  const string = String.raw`(?:[^"\\\n]|\\.)*`;
  const join = String.raw`"\s*\.\.\s*(?:([\w.]+)\s*\.\.\s*)?"`;
  const chain = new RegExp(`--[^\n]*|"(${string}(?:${join}${string})*)"`, "g");
  return findQuoted(source, chain, (text) =>
    text.replaceAll(new RegExp(join, "g"), (_all, name) => (name ? `{${name}}` : "")).replaceAll('\\"', '"'),
  );
}

function findQuoted(source: string, quoted: RegExp, unquote: (text: string) => string) {
  return [...source.matchAll(quoted)].flatMap(({ 1: text, index: at }) =>
    text === undefined ? [] : [{ text: unquote(text), at }],
  );
}

/** Finds the descriptions of alerts and of the OpenAPI document. */
function readYaml(source: string) {
  const text =
    /(?:description|summary|^ +\d{3}): (?!\{)["']?(.+?)["']?(?: \}|, (?:schema|items|content): .*)?$/gm;
  return findQuoted(source, text, (found) => found);
}
