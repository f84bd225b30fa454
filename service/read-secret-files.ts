import { readFileSync } from "node:fs";

/**
 * Puts the content of secrets' files, named by `<NAME>_FILE`, in place of their names, and leaves unset and empty
 * variables out.
 *
 * @throws Error if a file cannot be read, or a secret is given in both ways
 */
export function readSecretFiles(
  environment: NodeJS.ProcessEnv,
  secrets: readonly string[],
): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && value !== "") variables[name] = value;
  }
  for (const name of secrets) {
    const file = variables[`${name}_FILE`];
    if (file === undefined) continue;
    if (variables[name] !== undefined)
      throw new Error(`${name} and ${name}_FILE are both set. Unset one of them.`);
    try {
      variables[name] = readFileSync(file, "utf8").trim();
    } catch (cause) {
      const reason = (cause as NodeJS.ErrnoException).code;
      throw new Error(
        `${name}_FILE names ${file}, which cannot be read (${reason}). Mount it or set ${name}.`,
        {
          cause,
        },
      );
    }
  }
  return variables;
}
