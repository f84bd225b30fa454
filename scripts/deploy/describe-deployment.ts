import { describeChanges, type ObjectChange } from "./catalog.ts";
import type { ContractChange } from "./contract.ts";
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
      ...sql
        .trimEnd()
        .split("\n")
        .map((line) => `    ${line}`.trimEnd()),
    ]),
    ...(uncertain.length === 0 ? [] : ["Only the deployment can tell whether these statements succeed:"]),
    ...uncertain.map((line) => `  ${line}`),
    ...passwords.map((role) => `The password of ${role} will be set.`),
    ...describeDefinitions(definitions),
  ];
  if (refusal !== undefined) return [...lines, "The deployment would fail:", refusal].join("\n");
  if (apiSchemasChanged || migrations.length > 0) {
    lines.push(
      apiSchemasChanged ? "The API schemas would be rebuilt. What changes:" : "What changes:",
      ...(changes.length === 0 ? ["(no object differs)"] : describeChanges(changes)).map(
        (line) => `  ${line}`,
      ),
      ...describePromises(promises),
    );
  }
  if (!hasWork(plan, passwords)) lines.push("Nothing to do: the database is in the state of db/.");
  return [...lines, `Plan ${hash}`].join("\n");
}

/** What somebody has changed by hand, with the statements that undo it. */
export function describeDrift({ drift, isDriftNew }: Pick<Plan, "drift" | "isDriftNew">): string[] {
  if (drift.length === 0) return [];
  const durable = drift.filter(({ scope }) => scope === "durable");
  const undo = durable.flatMap(describeUndo);
  return [
    isDriftNew
      ? "Somebody has changed this by hand since the last deployment, which is refused without --accept-drift:"
      : "Somebody has changed this by hand:",
    ...describeChanges(drift).map((line) => `  ${line}`),
    ...(undo.length === 0 ? [] : ["To undo it, run this SQL, or write a migration that keeps it:"]),
    ...undo,
    ...(undo.length === 0 ? [] : ["-- End of the SQL."]),
    ...(durable.length === drift.length
      ? []
      : ["The next data set has nothing of what was changed in this one."]),
  ];
}

function describeUndo({ object, undo }: ObjectChange): string[] {
  if (undo.length === 0) return [`-- ${object}: PostgreSQL cannot print a statement for it.`];
  return undo.map((statement) => statement.replace(/;?\s*$/, ";"));
}

function describeDefinitions(definitions: string[]): string[] {
  return definitions.map((name) => `db/data_set/${name} has changed: it is in effect with the next refresh.`);
}

function describePromises(changes: ContractChange[]): string[] {
  const describe = ({ schema, what }: ContractChange) => `  ${schema}: ${what}`;
  const [lost, gained] = [changes.filter(({ breaks }) => breaks), changes.filter(({ breaks }) => !breaks)];
  return [
    ...(lost.length === 0 ? [] : ["Clients lose what they were promised:", ...lost.map(describe)]),
    ...(gained.length === 0 ? [] : ["Clients gain:", ...gained.map(describe)]),
  ];
}
