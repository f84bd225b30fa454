import { z } from "zod";
import { getHeader, removeHeader, setHeader } from "../headers.ts";
import { parseQuery, type QueryArguments } from "../parse-query.ts";
import { NOT_IMPLEMENTED, type Plugin } from "./plugin.ts";

const TEMPLATE = /\$\(query_params\.(\w+)\)/g;
const HEADER_NAME = /^[\w-]+$/;

const headerName = z.string().regex(HEADER_NAME, NOT_IMPLEMENTED);
const headerLine = z
  .string()
  .refine((line) => HEADER_NAME.test(splitLine(line)[0]) && splitLine(line)[1] !== "", "expected name:value")
  .refine((line) => !/\$[({]/.test(line.replace(TEMPLATE, "")), NOT_IMPLEMENTED);

const config = z.strictObject({
  remove: z.strictObject({ headers: z.array(headerName).default([]) }).default({ headers: [] }),
  add: z.strictObject({ headers: z.array(headerLine).default([]) }).default({ headers: [] }),
});

/** Removes headers from what the upstream is sent, then adds those that are not there. */
export const requestTransformer: Plugin<z.output<typeof config>> = {
  name: "request-transformer",
  priority: 801,
  onConsumers: true,
  config,
  create(config) {
    const removed = config.remove.headers.filter((name) => name.toLowerCase() !== "host");
    const added = config.add.headers.map(splitLine).filter(([name]) => name.toLowerCase() !== "host");
    return {
      access(exchange) {
        for (const name of removed) removeHeader(exchange.request, name);
        const query = parseQuery(exchange.query);
        for (const [name, template] of added) {
          if (getHeader(exchange.request, name) !== undefined) continue;
          setHeader(exchange.request, name, fillTemplate(template, query));
        }
        return undefined;
      },
    };
  },
};

function splitLine(line: string): [name: string, value: string] {
  const match = /^([^:]+):*(.*)$/s.exec(line);
  return [match?.[1] ?? "", match?.[2] ?? ""];
}

/** As Lua prints them: nothing for an absent parameter, `true` without "=", `table: 0x…` for several. */
function fillTemplate(template: string, query: QueryArguments): string {
  return template.replace(TEMPLATE, (_, name: string) => {
    const values = query.get(name) ?? [];
    return values.length > 1 ? "table: 0x000000000000" : String(values[0] ?? "");
  });
}
