import type { Deployed } from "./deployed.ts";
import { DeploymentRefused, refuseIfFound } from "./deployment-refused.ts";
import type { Commit, Release } from "./release.ts";

/** What is deployed, and what the operator allows. */
export interface ReleaseOptions {
  /** What is deployed. Absent for databases that belong to one checkout: those of tests, and the stack of `npm start`. */
  release?: Release | undefined;
  /** Allows a release whose commit or history is unknown. */
  acceptsUnknownRelease?: boolean | undefined;
  /** Allows a release that lacks what was deployed last: commits, migrations, and what clients were promised. */
  rollsBack?: boolean | undefined;
  /** Receives progress and warnings, line by line. */
  report?: (line: string) => void;
}

/**
 * Refuses a release that does not contain the one that was deployed last, because it is older or on another branch. A
 * release that contains it may lack migrations that the database ran: they stay after a rollback.
 *
 * @param deployed the last deployment, and the last commit that is known
 * @param newer migrations that the database ran, newer than all those that would be deployed
 * @throws DeploymentRefused
 */
export function refuseOlderRelease(
  deployed: Pick<Deployed, "commit" | "last_commit"> | undefined,
  newer: string[],
  { release, acceptsUnknownRelease, rollsBack, report = () => {} }: ReleaseOptions,
): void {
  const last = deployed?.last_commit;
  const doubt =
    release === undefined && last
      ? "this database has releases, and the stack of npm start has none"
      : release?.doubt;
  if (doubt !== undefined && !acceptsUnknownRelease)
    throw new DeploymentRefused(
      [
        `Nothing was deployed: ${doubt}.`,
        "The history could not tell what was deployed, or whether it is newer than the last release. Commit the changes, fetch",
        "all commits (git fetch --unshallow), or build the image with RELEASE (npm run release:stamp). To deploy anyway, run",
        "npm run db:deploy -- --accept-unknown-release",
      ].join("\n"),
    );
  const commit = release?.commit;
  const contains = release?.contains?.split(" ").some((id) => last?.id.startsWith(id));
  if (last && commit && !contains) {
    if (!rollsBack)
      throw new DeploymentRefused(
        [
          "Nothing was deployed: this release does not contain the one that was deployed last, and would undo its changes.",
          `  deployed last: ${describeCommit(last)}`,
          `  this release:  ${describeCommit(commit)}`,
          "If this release is older, deploy a newer one. Or, to roll back to it, run npm run db:deploy -- --roll-back",
          "If it is on another branch, merge the commit that was deployed last.",
        ].join("\n"),
      );
    report(`This rolls back from ${describeCommit(last)} to ${describeCommit(commit)}.`);
  }
  refuseIfFound(
    "Nothing was changed. This database ran migrations that db/migrations does not have:",
    rollsBack || (contains && deployed?.commit) ? [] : newer,
    "This checkout is older than the database. Deploy the commit that has these migrations. Or, to roll back only the API",
    "to this checkout, run npm run db:deploy -- --roll-back",
  );
  if (newer.length > 0)
    report(
      `These migrations of a newer release stay, with the functions that they need: ${newer.join(", ")}.`,
    );
}

/** A commit for people, such as `1a2b3c4d 2026-11-28 fix(api): count rows (Ada)`. */
export function describeCommit({ id, date, subject, author }: Commit): string {
  return `${id.slice(0, 8)} ${date.slice(0, 10)} ${subject} (${author})`;
}
