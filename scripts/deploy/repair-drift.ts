import type { Client } from "pg";
import { describeChanges, gatherChanges, type PartChange } from "./compare-catalogues.ts";
import { type Drift, findDrift, isDrifted } from "./find-drift.ts";
import { lockTimeoutMilliseconds, takeTurns } from "./take-turns.ts";

/** Drift was found, and nobody has said that it is to be repaired. Its message is several lines. */
export class DriftFound extends Error {
  override name = "DriftFound";
  readonly drift: Drift;

  constructor(message: string, drift: Drift) {
    super(message);
    this.drift = drift;
  }
}

const rounds = 5;
const insufficientPrivilege = "42501";

/** Drift, for people. */
export function describeDrift({ api, repairable, lost, foreign }: Drift): string[] {
  const list = (title: string, changes: PartChange[]) =>
    changes.length === 0
      ? []
      : [title, ...describeChanges(gatherChanges(changes)).map((line) => `  ${line}`)];
  return [
    ...list("Changed since the last deployment, and not by one:", [...api, ...repairable]),
    ...list("Lost, with what was in it; restore it from a back-up (docs/operations.md):", lost),
    ...list("Not of this project, and left alone:", foreign),
  ];
}

/**
 * Makes what has drifted outside the API schemas as it was, in one transaction. What no statement can bring back
 * stays lost.
 *
 * @throws Error that names what could not be repaired: then nothing has changed
 */
export async function repairDrift(client: Client, report: (line: string) => void): Promise<void> {
  await takeTurns(
    client,
    async () => {
      await client.query("begin");
      try {
        await client.query(
          `set local lock_timeout = '${lockTimeoutMilliseconds}ms'; set local client_min_messages = warning`,
        );
        await repairInRounds(client);
        await client.query("commit");
      } catch (error) {
        await client.query("rollback");
        throw error;
      }
    },
    report,
  );
}

// One repair may need another first, as a view needs the function that it calls.
async function repairInRounds(client: Client): Promise<void> {
  const failures = new Map<string, Failure>();
  for (let round = 1; round <= rounds; round += 1) {
    const { repairable } = await findDrift(client);
    if (repairable.length === 0) return;
    failures.clear();
    for (const change of repairable) {
      const failure = await repairPart(client, change);
      const { object = "", part = "" } = change.before ?? change.after ?? {};
      if (failure !== undefined) failures.set(`${object} ${part}`.trim(), failure);
    }
  }
  const left = (await findDrift(client)).repairable;
  if (left.length === 0) return;
  throw new Error(
    [
      "This drift could not be repaired, so nothing was:",
      ...describeChanges(gatherChanges(left)).map((line) => `  ${line}`),
      ...[...failures].map(([what, { message }]) => `  ${what}: ${message}`),
      ...describeForbidden([...failures.values()]),
    ].join("\n"),
  );
}

/** Why a repair failed, with its statements. */
interface Failure {
  statements: string;
  code: string | undefined;
  message: string;
}

/** What a superuser has changed may be past the rights of who deploys. */
function describeForbidden(failures: Failure[]): string[] {
  const forbidden = failures.filter(({ code }) => code === insufficientPrivilege);
  if (forbidden.length === 0) return [];
  return [
    "For a superuser to run, and then deploy again:",
    ...forbidden.map(({ statements }) => `  ${statements};`),
  ];
}

/** @returns why it failed, if it did */
async function repairPart(client: Client, { before, after }: PartChange): Promise<Failure | undefined> {
  if (before === undefined) return await attempt(client, after?.removal ?? "");
  // These can only be made anew.
  const isReplaced = /^(policy|constraint|trigger|index|rule|may become) /.test(before.part);
  const statements = isReplaced ? `${(after ?? before).removal}; ${before.repair}` : (before.repair ?? "");
  const failure = await attempt(client, statements);
  if (failure === undefined || before.removal === null || before.part !== "") return failure;
  return await attempt(client, `${before.removal}; ${before.repair}`);
}

async function attempt(client: Client, statements: string): Promise<Failure | undefined> {
  await client.query("savepoint repair");
  try {
    await client.query(statements);
    await client.query("release savepoint repair");
    return undefined;
  } catch (error) {
    await client.query("rollback to savepoint repair");
    const { code, message } = error as { code?: string; message: string };
    if (code === "55P03" || code === "40P01") throw error;
    return { statements, code, message };
  }
}

/**
 * Refuses to go on over drift, unless it is accepted.
 *
 * @throws DriftFound, or Error where something is lost
 */
export async function settleDrift(
  client: Client,
  accepts: (drift: Drift) => boolean | Promise<boolean>,
  report: (line: string) => void,
): Promise<Drift> {
  const drift = await findDrift(client);
  const lines = describeDrift(drift);
  if (!isDrifted(drift)) return drift;
  if (drift.lost.length > 0) throw new DriftFound(["Nothing was deployed.", ...lines].join("\n"), drift);
  if (!(await accepts(drift))) {
    throw new DriftFound(
      [
        ...lines,
        "Nothing was deployed. npm run db:deploy -- --accept-drift puts it back to what was deployed, and goes on.",
        "To keep a change, make it in db/.",
      ].join("\n"),
      drift,
    );
  }
  for (const line of lines) report(line);
  if (drift.repairable.length > 0) await repairDrift(client, report);
  return drift;
}
