/** The deployment was refused: it would break a promise or a rule, or does not fit the database. Its message has several lines. */
export class DeploymentRefused extends Error {
  override name = "DeploymentRefused";
}
