/** The deployment would break a promise or a rule, or does not fit the database. The message has several lines. */
export class DeploymentRefused extends Error {
  override name = "DeploymentRefused";
}

/**
 * Refuses the deployment if a check found something.
 *
 * @param problem what is wrong with what was found
 * @param advice what to do next
 * @throws DeploymentRefused that lists what was found
 */
export function refuseIfFound(problem: string, found: string[], ...advice: string[]): void {
  if (found.length === 0) return;
  throw new DeploymentRefused([problem, ...found.map((one) => `  ${one}`), ...advice].join("\n"));
}
