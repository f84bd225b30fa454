/** What a deployment may not do: a broken promise or rule, other migrations. Its message is several lines. */
export class DeploymentRefused extends Error {
  override name = "DeploymentRefused";
}
