import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { createDatabase, startLoggedSync, startNode, startUpstream, waitFor } from "./support.ts";

// What the tests of the sync share: a database and an upstream for the file, and two nodes for each test.

/** A change of a row is in force on every node within this time. */
export const reactionMilliseconds = 2_000;

export let database: Awaited<ReturnType<typeof createDatabase>>;
export let upstream: Awaited<ReturnType<typeof startUpstream>>;
export let nodes: [Awaited<ReturnType<typeof startNode>>, Awaited<ReturnType<typeof startNode>>];
/** What a test opened, closed in reverse order after it. */
export const opened: (() => unknown)[] = [];

export function useNodes(): void {
  beforeAll(async () => {
    database = await createDatabase();
    upstream = await startUpstream();
  });
  afterAll(async () => {
    upstream.close();
    await database.drop();
  });
  beforeEach(async () => {
    nodes = [await startNode(), await startNode()];
    opened.push(nodes[0].stop, nodes[1].stop);
  });
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
}

export async function start(adminUrls = nodes.map(({ adminUrl }) => adminUrl)) {
  const sync = await startLoggedSync({
    database: { connectionString: database.syncUrl },
    adminUrls,
    postgrestUrl: upstream.url,
  });
  opened.push(sync.close);
  return sync;
}

/** How long it takes until every given node answers the key with the status. */
export async function waitForStatus(
  key: string,
  status: number,
  asked = nodes as { ask: (typeof nodes)[0]["ask"] }[],
) {
  return waitFor(`the nodes answer ${status}`, async () => {
    const answers = await Promise.all(asked.map((node) => node.ask(key)));
    return answers.every((answer) => answer === status);
  });
}
