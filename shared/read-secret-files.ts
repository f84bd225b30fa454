import { readFileSync } from "node:fs";

/**
 * Reads each secret from the file that `<NAME>_FILE` names, and returns it as `<NAME>` with the other variables. Leaves
 * out unset and empty variables.
 *
 * @throws Error if a file cannot be read, or if both variables are set
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
        `${name}_FILE names ${file}, which cannot be read (${reason}). Mount the file, or set ${name} instead of ${name}_FILE.`,
        {
          cause,
        },
      );
    }
  }
  return variables;
}
