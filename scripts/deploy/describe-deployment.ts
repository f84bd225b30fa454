import { describeChanges } from "./catalog.ts";
import { type ContractChange, describeChange } from "./contract.ts";
import type { Deployment } from "./deploy-database.ts";
import type { Plan } from "./plan-deployment.ts";

/** What a deployment did, for people. */
export function describeDeployment(done: Deployment, passwords: string[]): string {
  const { migrations, apiSchemasChanged, changes, definitions } = done;
  const lines = [
    ...migrations.map((name) => `Ran the migration ${name}.`),
    ...passwords.map((role) => `Set the password of ${role}.`),
    ...describeDefinitions(definitions),
    apiSchemasChanged ? "Rebuilt the API schemas and told PostgREST." : "The API schemas are up to date.",
    ...describePromises(changes),
  ];
  if (migrations.length + passwords.length === 0 && !apiSchemasChanged) lines.push("Nothing to do.");
  return lines.join("\n");
}

/** Whether a deployment would do anything. */
export function hasWork(plan: Plan, passwords: string[]): boolean {
  return plan.apiSchemasChanged || plan.migrations.length + passwords.length + plan.definitions.length > 0;
}

/** What a deployment would do, for people. */
export function describePlan(plan: Plan, passwords: string[]): string {
  const { migrations, uncertain, definitions, apiSchemasChanged, changes, promises, refusal, hash } = plan;
  const lines = [
    ...describeDrift(plan),
    ...migrations.flatMap(({ name, sql }) => [
      `Migration ${name} would run:`,
      sql.trimEnd().replaceAll(/^(?=.)/gm, "    "),
    ]),
    ...listUnder("Only the deployment can tell whether these statements succeed:", uncertain),
    ...passwords.map((role) => `The password of ${role} will be set.`),
    ...describeDefinitions(definitions),
  ];
  if (refusal !== undefined) return [...lines, "The deployment would fail:", refusal].join("\n");
  if (apiSchemasChanged || migrations.length > 0) {
    const heading = apiSchemasChanged ? "The API schemas would be rebuilt. What changes:" : "What changes:";
    lines.push(
      ...listUnder(heading, changes.length === 0 ? ["(no object differs)"] : describeChanges(changes)),
    );
    lines.push(...describePromises(promises));
  }
  if (!hasWork(plan, passwords)) lines.push("Nothing to do: the database is in the state of db/.");
  return [...lines, `Plan ${hash}`].join("\n");
}

/** What was changed by hand, with the statements that undo it. */
export function describeDrift({ drift, isDriftNew }: Pick<Plan, "drift" | "isDriftNew">): string[] {
  const durable = drift.filter(({ scope }) => scope === "durable");
  const undo = durable.flatMap((change) =>
    change.undo.length === 0
      ? [`-- ${change.object}: PostgreSQL cannot print a statement for it.`]
      : change.undo.map((statement) => statement.replace(/;?\s*$/, ";")),
  );
  const refused = isDriftNew ? " since the last deployment, which is refused without --accept-drift" : "";
  return [
    ...listUnder(`This was changed by hand${refused}:`, describeChanges(drift)),
    ...(undo.length === 0
      ? []
      : ["To undo it, run this SQL, or write a migration that keeps it:", ...undo, "-- End of the SQL."]),
    ...(durable.length === drift.length ? [] : ["The next data set loses what was changed in this one."]),
  ];
}

function describeDefinitions(definitions: string[]): string[] {
  return definitions.map((name) => `db/data_set/${name} has changed: it is in effect with the next refresh.`);
}

function describePromises(changes: ContractChange[]): string[] {
  const [lost, gained] = [changes.filter(({ breaks }) => breaks), changes.filter(({ breaks }) => !breaks)];
  return [
    ...listUnder("Clients lose what they were promised:", lost.map(describeChange)),
    ...listUnder("Clients gain:", gained.map(describeChange)),
  ];
}

function listUnder(heading: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [heading, ...lines.map((line) => `  ${line}`)];
}
