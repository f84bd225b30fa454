/** A file of SQL, by the name that people know it by. */
export interface SqlFile {
  name: string;
  sql: string;
}

/** One statement of a file, without the comments before it and its semicolon. */
export interface Statement {
  file: SqlFile;
  /** Where it begins in the file. */
  offset: number;
  text: string;
}

const tokens =
  /--[^\n]*|\/\*|[eE]'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|[\w\u0080-\uffff][\w$\u0080-\uffff]*|;|\S/g;

/**
 * Takes a file apart, so that an error can name its statement. Nothing else depends on it: what a statement may do is
 * for PostgreSQL to say.
 */
export function splitStatements(file: SqlFile): Statement[] {
  const { sql } = file;
  const statements: Statement[] = [];
  let start: number | undefined;
  // Inside `begin atomic … end`, semicolons end no statement.
  let depth = 0;
  let before = "";
  tokens.lastIndex = 0;
  for (let match = tokens.exec(sql); match !== null; match = tokens.exec(sql)) {
    const [token] = match;
    if (token.startsWith("--")) continue;
    if (token === "/*") {
      tokens.lastIndex = findCommentEnd(sql, match.index);
      continue;
    }
    if (/^\$.*\$$/.test(token)) tokens.lastIndex = findEnd(sql, token, match.index + token.length);
    if (token === ";" && depth === 0) {
      if (start !== undefined) statements.push({ file, offset: start, text: sql.slice(start, match.index) });
      start = undefined;
    } else start ??= match.index;
    const word = token.toLowerCase();
    if (word === "atomic" && before === "begin") depth = 1;
    else if (word === "case" && depth > 0) depth += 1;
    else if (word === "end" && depth > 0) depth -= 1;
    before = word;
  }
  if (start !== undefined) statements.push({ file, offset: start, text: sql.slice(start).trimEnd() });
  return statements;
}

function findEnd(sql: string, mark: string, from: number): number {
  const end = sql.indexOf(mark, from);
  return end < 0 ? sql.length : end + mark.length;
}

/** Comments of this kind may stand in each other. */
function findCommentEnd(sql: string, from: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = from;
  let depth = 0;
  for (let match = marks.exec(sql); match !== null; match = marks.exec(sql)) {
    depth += match[0] === "/*" ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return sql.length;
}
