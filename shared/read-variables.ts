import { z } from "zod";

/** The URL of a database. The error message shows an example with this user. */
export const databaseUrl = (user: string) =>
  z.url({
    protocol: /^postgres(ql)?$/,
    error: `should be a URL such as postgres://${user}:password@host:5432/database`,
  });

/** An http: or https: URL. */
export const httpUrl = (what: string) => z.url({ protocol: /^https?$/, error: `should be ${what}` });

const portProblem = "should be a port number, or 0 for any free port";
/** A port to listen on. */
export const listenPort = z
  .string()
  .regex(/^[0-9]{1,5}$/, portProblem)
  .transform(Number)
  .refine((number) => number <= 65_535, portProblem);

/**
 * Validates environment variables.
 *
 * @throws Error with one line for each missing or malformed variable, without values, because they may be secrets
 */
export function readVariables<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  variables: Record<string, string>,
): z.output<z.ZodObject<Shape>> {
  const parsed = schema.safeParse(variables);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path: [name], message }) => {
    const what = variables[String(name)] === undefined ? `is missing: it ${message}` : message;
    return describeVariable(String(name), what);
  });
  throw new Error([...new Set(lines)].join("\n"));
}

/** Says what is wrong with a variable and where to set it. */
export function describeVariable(name: string, what: string): string {
  return `${name} ${what}. Set it in the environment or in .env.`;
}
