/** As many arguments as nginx reads by default (`lua_max_uri_args`). */
const MAX_ARGUMENTS = 100;

/** A parameter's values in order; `true` stands for a name without "=". */
export type QueryArguments = Map<string, (string | true)[]>;

/**
 * Reads a query string as `ngx.req.get_uri_args` does: "+" is a space, an invalid percent byte stays as it
 * is, an argument without a name is dropped. Values hold one character a byte.
 */
export function parseQuery(query: string): QueryArguments {
  const found: QueryArguments = new Map();
  let count = 0;
  for (const argument of query.split("&")) {
    const equals = argument.indexOf("=");
    const name = decode(equals < 0 ? argument : argument.slice(0, equals));
    if (name === "") continue;
    if (++count > MAX_ARGUMENTS) break;
    const value = equals < 0 ? true : decode(argument.slice(equals + 1));
    const values = found.get(name);
    if (values) values.push(value);
    else found.set(name, [value]);
  }
  return found;
}

function decode(text: string): string {
  return text
    .replaceAll("+", " ")
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
