/** Says what is wrong with the bytes of a value, if anything. */
export type ValueCheck = (bytes: Buffer, start: number, end: number) => string | undefined;

const quote = 0x22;
const minus = 0x2d;

/**
 * What PostgreSQL would read as something else than stands there is refused: `today`, `infinity`, 20230304, 0x1F, NaN.
 * What is not checked here (a 30th of February, a number too large) PostgreSQL refuses by itself.
 *
 * @param type as pg_type.typname has it
 * @returns undefined where PostgreSQL decides alone
 */
export function chooseCheck({ name, type }: { name: string; type: string }): ValueCheck | undefined {
  if (name === "audit_year") return unquoted(isYear, "is not a year from 1900 to 2099");
  const found = checks[type];
  return found === undefined ? undefined : unquoted(...found);
}

type Test = (bytes: Buffer, start: number, end: number) => boolean;

const decimal = matching(/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/);
const time = matching(/^(19|20)\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?$/);
const wholeNumber: [Test, string] = [isWhole, "is not a whole number"];
const number: [Test, string] = [decimal, "is not a number"];
const moment: [Test, string] = [time, "is not a time of the form 2023-01-31 12:00:00Z, from 1900 to 2099"];
const checks: Record<string, [Test, string] | undefined> = {
  date: [isDate, "is not a date of the form 2023-01-31, from 1900 to 2099"],
  int2: wholeNumber,
  int4: wholeNumber,
  int8: wholeNumber,
  numeric: number,
  float4: number,
  float8: number,
  timestamp: moment,
  timestamptz: moment,
};

/** Nothing at all is null. */
function unquoted(test: Test, problem: string): ValueCheck {
  return (bytes, start, end) => {
    if (start === end) return undefined;
    const isQuoted = bytes[start] === quote;
    return test(bytes, isQuoted ? start + 1 : start, isQuoted ? end - 1 : end) ? undefined : problem;
  };
}

function isDigits(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return end > start;
}

function isWhole(bytes: Buffer, start: number, end: number): boolean {
  return isDigits(bytes, bytes[start] === minus ? start + 1 : start, end);
}

function isYear(bytes: Buffer, start: number, end: number): boolean {
  const isOfTwoCenturies =
    (bytes[start] === 0x31 && bytes[start + 1] === 0x39) ||
    (bytes[start] === 0x32 && bytes[start + 1] === 0x30);
  return isOfTwoCenturies && end - start === 4 && isDigits(bytes, start, end);
}

function isDate(bytes: Buffer, start: number, end: number): boolean {
  return (
    end - start === 10 &&
    isYear(bytes, start, start + 4) &&
    bytes[start + 4] === minus &&
    isDigits(bytes, start + 5, start + 7) &&
    bytes[start + 7] === minus &&
    isDigits(bytes, start + 8, end)
  );
}

function matching(form: RegExp): Test {
  return (bytes, start, end) => form.test(bytes.toString("latin1", start, end));
}
