import type { Answer } from "../error-answers.ts";
import { decode, refuse } from "./refuse-request.ts";

/** As gateway/kong.yml has them; aliases may be `longestAliases` bytes longer than the names, all together. */
export interface SelectBounds {
  mostEmbedded: number;
  deepestEmbedding: number;
  longestAliases: number;
}

/** What is named between two parentheses: its columns, and how often it embeds each table. */
interface Level {
  columns: Set<string>;
  tables: Map<string, number>;
}

/** Does what the Lua of gateway/kong.yml does that refuses selects, in its words; nothing for one that may pass. */
export function refuseSelect(query: string, bounds: SelectBounds): Answer | undefined {
  for (const parameter of query.match(/[^&]+/g) ?? []) {
    const [, key = "", value = ""] =
      /^([^=]*)=?(.*)$/s.exec(parameter)?.map((it) => decode(it.replaceAll("+", " "))) ?? [];
    if (key !== "select") continue;
    const answer = judgeSelect(value, bounds);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function judgeSelect(value: string, bounds: SelectBounds): Answer | undefined {
  const text = unquote(value);
  if (text === undefined) {
    return refuse("A quotation mark stands within a name.", "Put the whole name into quotation marks.");
  }
  const levels = [makeLevel()];
  let tables = 0;
  let longer = 0;
  for (const [, item = "", mark] of `${text},`.matchAll(/([^,()]*)([,()])/g)) {
    const level = levels.at(-1) ?? makeLevel();
    const [, alias, named = item] = /^[ \t.]*([^:]*):([^:].*)$/s.exec(item) ?? [];
    const name = (/^[ \t.]*([A-Za-z0-9_ $*]*)/.exec(named)?.[1] ?? "").replace(/ +$/, "");
    longer += Math.max(alias === undefined ? 0 : alias.length - name.length, 0);
    if (mark === "(") tables += 1;
    const answer =
      refuseItem(item, longer, bounds) ??
      (mark === "(" ? refuseTable(name, level, levels.length, tables, bounds) : refuseColumn(name, level));
    if (answer !== undefined) return answer;
    if (mark === "(") levels.push(makeLevel());
    if (mark === ")" && levels.length > 1) levels.pop();
  }
  return undefined;
}

const makeLevel = (): Level => ({ columns: new Set(), tables: new Map() });

/** A name in quotation marks as one without; nothing where one of the marks is part of something else. */
function unquote(text: string): string | undefined {
  let isOdd = false;
  const plain = `,${text}`.replace(/([^"]*)"([^"\\]*)"/g, (_, before: string, name: string) => {
    isOdd ||= !/[,(:!.>][ \t]*$/.test(before);
    return before + name.replace(/[^A-Za-z0-9]/g, "_");
  });
  return isOdd || plain.includes('"') ? undefined : plain.slice(1);
}

function refuseItem(item: string, longer: number, { longestAliases }: SelectBounds): Answer | undefined {
  if (longer > longestAliases) {
    return refuse(
      "The aliases are too long.",
      `Let all of them be ${longestAliases} bytes longer than the names, or less.`,
    );
  }
  if (/::[ \t]*bytea/i.test(item)) {
    return refuse("A cast to bytea is not answered.", "Ask for the text itself.");
  }
  return undefined;
}

function refuseTable(
  name: string,
  level: Level,
  depth: number,
  tables: number,
  { mostEmbedded, deepestEmbedding }: SelectBounds,
): Answer | undefined {
  const times = (level.tables.get(name) ?? 0) + 1;
  level.tables.set(name, times);
  if (name === "general" && (depth > 1 || times > 1)) {
    return refuse(
      "The report is embedded more than once.",
      "Embed general once, in the table that is asked for: what else is embedded is of the same report.",
    );
  }
  if (tables > mostEmbedded || depth > deepestEmbedding || times > 2) {
    return refuse(
      "The select embeds too many tables.",
      `Embed ${mostEmbedded} or fewer, ${deepestEmbedding} deep or less, and none more than twice beside each other.`,
    );
  }
  return undefined;
}

function refuseColumn(name: string, { columns }: Level): Answer | undefined {
  if (name === "") return undefined;
  if (columns.has(name) || columns.has("*") || (name === "*" && columns.size > 0)) {
    return refuse("The select names a column twice.", "Name each column once. The star names them all.");
  }
  columns.add(name);
  return undefined;
}
