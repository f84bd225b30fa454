import { describeChanges, type ObjectChange } from "./compare-catalogues.ts";
import type { Deployment } from "./deploy-database.ts";
import { isDrifted } from "./find-drift.ts";
import type { Plan } from "./plan-deployment.ts";
import { describeDrift } from "./repair-drift.ts";

/** What a deployment did, for people. */
export function describeDeployment(
  { migrations, apiSchemasChanged, changes }: Deployment,
  passwords: string[],
): string {
  const lines = [
    ...migrations.map((name) => `Ran the migration ${name}.`),
    ...passwords.map((role) => `Set the password of ${role}.`),
    ...(apiSchemasChanged
      ? ["Rebuilt the API schemas and told PostgREST.", ...listChanges(changes)]
      : ["The API schemas are up to date."]),
  ];
  if (migrations.length === 0 && !apiSchemasChanged) lines.push("Nothing to do.");
  return lines.join("\n");
}

/** What a deployment would do, for people. */
export function describePlan(plan: Plan): string {
  const { migrations, apiSchemasChanged, changes, additions, drift, refusal } = plan;
  const lines = [
    ...describeDrift(drift),
    ...migrations.flatMap(({ name, sql }) => [
      `Migration ${name} would run:`,
      ...sql
        .trimEnd()
        .split("\n")
        .map((line) => `    ${line}`.trimEnd()),
    ]),
  ];
  if (refusal !== undefined) return [...lines, "The deployment would fail:", refusal].join("\n");
  if (apiSchemasChanged || migrations.length > 0) {
    lines.push(
      apiSchemasChanged ? "The API schemas would be rebuilt. What changes:" : "What changes:",
      ...listChanges(changes),
      additions.length === 0
        ? "Contracts: kept."
        : "Contracts: kept, and added to. From then on it is promised to clients:",
      ...additions.map(({ schema, what }) => `  ${schema}: ${what}`),
    );
  }
  if (migrations.length === 0 && !apiSchemasChanged && !isDrifted(drift))
    lines.push("Nothing to do: the database is in the state of db/.");
  return lines.join("\n");
}

function listChanges(changes: ObjectChange[]): string[] {
  if (changes.length === 0) return ["  (no object differs)"];
  return describeChanges(changes).map((line) => `  ${line}`);
}
