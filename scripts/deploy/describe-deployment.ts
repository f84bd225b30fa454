import { describeChanges } from "./catalog.ts";
import { type ContractChange, describeChange } from "./contract.ts";
import type { Deployment } from "./deploy-database.ts";
import { driftUnknown, type PastDeployment } from "./deployed.ts";
import type { Plan } from "./plan-deployment.ts";
import { describeCommit } from "./release-order.ts";

/** What a deployment did, for people. */
export function describeDeployment(done: Deployment, passwords: string[]): string {
  const { migrations, apiSchemasChanged, changes, indexes, awaitedColumns } = done;
  const lines = [
    ...migrations.map((name) => `The migration ${name} was run.`),
    ...passwords.map((role) => `The password of ${role} was set.`),
    apiSchemasChanged ? "The API schemas were rebuilt." : "The API schemas are up to date.",
    ...indexes.map((name) => `The index ${name} is now as in db/data_set/indexes.sql.`),
    ...describeAwaited(awaitedColumns),
    ...describePromises(changes),
  ];
  if (migrations.length + passwords.length + indexes.length === 0 && !apiSchemasChanged)
    lines.push("Nothing to do.");
  return lines.join("\n");
}

/** Whether a deployment would do anything. */
export function hasWork(plan: Plan, passwords: string[]): boolean {
  return plan.apiSchemasChanged || plan.indexes.length + passwords.length > 0;
}

/** What a deployment would do, for people. */
export function describePlan(plan: Plan, passwords: string[]): string {
  const { migrations, apiSchemasChanged, changes, promises, refusal, hash } = plan;
  const lines = [
    ...(plan.isDriftUnknown ? [driftUnknown] : []),
    ...describeDrift(plan),
    ...migrations.flatMap(describeMigration),
    ...passwords.map((role) => `The password of ${role} would be set.`),
  ];
  lines.push(
    ...listUnder("These rights were changed by hand. The deployment would reset them:", plan.changedRights),
  );
  lines.push(...listUnder("Rights that would change:", plan.rights));
  if (refusal !== undefined) return [...lines, "The deployment would fail:", refusal].join("\n");
  if (apiSchemasChanged) {
    const found = changes.length === 0 ? ["(no object differs)"] : describeChanges(changes);
    lines.push(...listUnder("The API schemas would be rebuilt. What changes:", found));
  }
  lines.push(...listUnder("These indexes would be built or dropped:", plan.indexes));
  lines.push(...describeAwaited(plan.awaitedColumns), ...describePromises(promises));
  if (!hasWork(plan, passwords)) lines.push("Nothing to deploy.");
  return [...lines, `Plan ${hash}`].join("\n");
}

/** The history of deployments, for people. */
export function describeHistory(history: PastDeployment[]): string {
  if (history.length === 0) return "Nothing has been deployed to this database yet.";
  return history
    .flatMap(({ deployed_at, deployed_by, commit, doubt, ...done }) => [
      `${deployed_at.toISOString().slice(0, 16).replace("T", " ")} UTC, by ${deployed_by}: ${commit ? describeCommit(commit) : "unknown release"}`,
      ...(doubt === null ? [] : [`  ${doubt}`]),
      `  ${[
        ...(done.is_rollback ? ["rolled back"] : []),
        done.rebuilt_api ? "rebuilt the API" : "changed no API",
        ...(done.is_promise ? ["promised to clients"] : []),
        ...(done.migrations.length > 0 ? [`ran ${done.migrations.join(", ")}`] : []),
      ].join(", ")}`,
    ])
    .join("\n");
}

/** What was changed by hand, with the statements that undo it. */
export function describeDrift({ drift, isDriftNew }: Pick<Plan, "drift" | "isDriftNew">): string[] {
  const undo = drift.flatMap((change) =>
    change.undo.length === 0
      ? [`-- ${change.object}: no undo statement could be generated. Undo this change by hand.`]
      : change.undo.map((statement) => statement.replace(/;?\s*$/, ";")),
  );
  const refused = isDriftNew ? ", so a deployment is refused without --accept-drift" : "";
  return [
    ...listUnder(`These objects were changed by hand${refused}:`, describeChanges(drift)),
    ...(undo.length === 0
      ? []
      : ["To keep them, see docs/recipes.md. To undo them, run:", ...undo, "-- End of the SQL."]),
  ];
}

/** A migration, and what its statements do to existing tables. */
const describeMigration = ({ name, sql, effects }: Plan["migrations"][number]) => [
  `Migration ${name} would run:`,
  sql.trimEnd().replaceAll(/^(?=.)/gm, "    "),
  ...listUnder(
    "  Until it commits, it holds these locks on existing tables:",
    effects.map((line) => `  ${line}`),
  ),
];

const describeAwaited = (columns: string[]) =>
  columns.map((name) => `The column ${name} is null until a refresh reads files that have it.`);

function describePromises(changes: ContractChange[]): string[] {
  const [lost, gained] = [changes.filter(({ breaks }) => breaks), changes.filter(({ breaks }) => !breaks)];
  return [
    ...listUnder("Breaking changes for clients:", lost.map(describeChange)),
    ...listUnder("Clients gain:", gained.map(describeChange)),
  ];
}

function listUnder(heading: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [heading, ...lines.map((line) => `  ${line}`)];
}
