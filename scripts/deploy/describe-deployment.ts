import { describeChanges } from "./compare-catalogues.ts";
import type { Deployment } from "./deploy-database.ts";
import type { Plan } from "./plan-deployment.ts";

/** What a deployment did, for people. */
export function describeDeployment(
  { migrations, apiSchemasChanged, changes = [] }: Deployment,
  passwords: string[],
): string {
  const lines = [
    ...migrations.map((name) => `Ran the migration ${name}.`),
    ...passwords.map((role) => `Set the password of ${role}.`),
    ...(apiSchemasChanged
      ? ["Rebuilt the API schemas and told PostgREST.", ...describeApiChanges(changes)]
      : ["The API schemas are up to date."]),
  ];
  if (migrations.length === 0 && !apiSchemasChanged) lines.push("Nothing to do.");
  return lines.join("\n");
}

/** What a deployment would do, for people. */
export function describePlan({ migrations, apiSchemasChanged, changes, additions, refusal }: Plan): string {
  if (migrations.length === 0 && !apiSchemasChanged)
    return "Nothing to do: the database is in the state of db/.";
  const lines = migrations.flatMap(({ name, sql }) => [
    `Migration ${name} would run:`,
    ...sql
      .trimEnd()
      .split("\n")
      .map((line) => `    ${line}`.trimEnd()),
  ]);
  if (refusal !== undefined) return [...lines, "The deployment would fail:", refusal].join("\n");
  if (apiSchemasChanged) lines.push("The API schemas would be rebuilt:", ...describeApiChanges(changes));
  lines.push(
    additions.length === 0
      ? "Contracts: kept."
      : "Contracts: kept, and added to. Write it down with npm run db:contract -- --write:",
    ...additions.map(({ schema, what }) => `  ${schema}: ${what}`),
  );
  return lines.join("\n");
}

function describeApiChanges(changes: Deployment["changes"] = []): string[] {
  if (changes.length === 0) return ["  (no object differs)"];
  return describeChanges(changes).map((line) => `  ${line}`);
}
