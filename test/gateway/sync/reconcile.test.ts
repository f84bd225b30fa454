import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { database, nodes, opened, reactionMilliseconds, start, useNodes, waitForStatus } from "./set-up.ts";
import { adminToken, waitFor } from "./support.ts";

useNodes();

describe("a node that refuses an entity", () => {
  test("keeps the old one, is reported, holds up no key, and takes the next good one", async () => {
    const sync = await start();
    await sync.firstDelivery;
    const { key } = await database.issueKey();
    await waitForStatus(key, 200);
    // Kong refuses a day's limit below the hour's.
    await database.client.query("update access.tiers set requests_per_day = 5 where name = 'individual'");
    opened.push(() =>
      database.client.query("update access.tiers set requests_per_day = null where name = 'individual'"),
    );
    await waitFor("both nodes refuse", () =>
      Object.values(sync.state().nodes).every((state) => state === "refusing"),
    );
    expect(sync.log()).toContain("cannot be lower than the limit for");
    expect(await nodes[0].ask(key)).toBe(200);

    const { key: later } = await database.issueKey();
    expect(await waitForStatus(later, 200)).toBeLessThan(reactionMilliseconds);
    expect(Object.values(sync.state().nodes)).toEqual(["refusing", "refusing"]);
    await database.client.query("update access.tiers set requests_per_day = null where name = 'individual'");
    await waitFor("both are current", () =>
      Object.values(sync.state().nodes).every((state) => state === "current"),
    );
  });

  test("is quoted without the key's hash, and not asked again and again", async () => {
    const sync = await start([nodes[0].adminUrl]);
    await sync.firstDelivery;
    const id = "99999999-9999-4999-8999-999999999999";
    const hash = createHash("sha256").update("the key of two").digest("hex");
    // Somebody else's consumer has the credential that the next key is to get.
    await nodes[0].admin("PUT", `/consumers/${id}`, { username: "other" });
    await nodes[0].admin("PUT", `/consumers/${id}/key-auth/${id}`, { key: hash });
    await database.client.query(
      `insert into access.api_keys (tier, owner_email, key_sha256, key_prefix)
       values ('individual', 'somebody@example.gov', sha256('the key of two'), 'the ke')`,
    );
    await waitFor("it refuses", () => sync.state().nodes[nodes[0].adminUrl] === "refusing");
    const refusals = () => sync.log().split("a gateway node refused an entity").length - 1;
    expect(sync.log()).toContain("UNIQUE violation");
    expect(sync.log()).toContain("<key hash>");
    expect(sync.log()).not.toContain(hash);
    const before = refusals();
    await sleep(2_500);
    expect(refusals()).toBe(before);
    expect((await nodes[0].admin("GET", `/key-auths/${id}`)).json).toMatchObject({ key: hash });
  });
});

const listOf = async (node: (typeof nodes)[0], kind: string) =>
  (await node.admin("GET", `/${kind}?size=1000`)).json.data as Record<string, unknown>[];
/** The times stay out: an entity that is written once more gets another. */
const entitiesOf = async (node: (typeof nodes)[0]) =>
  Object.fromEntries(
    await Promise.all(
      ["services", "routes", "plugins", "consumers", "key-auths"].map(async (kind) => [
        kind,
        (await listOf(node, kind)).map(({ created_at: _created, updated_at: _updated, ...entity }) => entity),
      ]),
    ),
  );

/** An Admin API in front of a node's own, and what it is asked to write. */
async function recordWrites(node: (typeof nodes)[0]): Promise<{ written: string[]; adminUrl: string }> {
  const written: string[] = [];
  const recorder = createServer(async (request, response) => {
    if (request.method !== "GET") written.push(`${request.method} ${request.url}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = await fetch(`${node.adminUrl}${request.url}`, {
      method: request.method ?? "GET",
      headers: { "kong-admin-token": adminToken, "content-type": "application/json" },
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    response.writeHead(answer.status).end(await answer.text());
  });
  await new Promise<void>((resolve) => recorder.listen(0, "127.0.0.1", resolve));
  opened.push(() => {
    recorder.closeAllConnections();
    recorder.close();
  });
  return { written, adminUrl: `http://127.0.0.1:${(recorder.address() as AddressInfo).port}` };
}

describe("Kong's database", () => {
  test("gets its routes after all keys, and what stood in for them is taken away last", async () => {
    await database.issueKey();
    const [node] = nodes;
    const standIn = "66666666-6666-4666-8666-666666666666";
    await node.admin("PUT", `/plugins/${standIn}`, { name: "request-termination", tags: ["single-audit"] });
    const { written, adminUrl } = await recordWrites(node);
    await (await start([adminUrl])).firstDelivery;
    const at = (what: RegExp) => written.findIndex((line) => what.test(line));
    const lastAt = (what: RegExp) => written.findLastIndex((line) => what.test(line));
    expect(at(/^PUT \/routes/)).toBeGreaterThan(lastAt(/\/key-auth\//));
    expect(at(/\/key-auth\//)).toBeGreaterThan(at(/^PUT \/plugins/));
    expect(written.at(-1)).toBe(`DELETE /plugins/${standIn}`);
  });

  test("has the same entities on every node, all marked as the sync's", async () => {
    await database.issueKey();
    await (await start()).firstDelivery;
    const entities = await entitiesOf(nodes[0]);
    expect(entities.services?.length).toBe(1);
    expect(entities.consumers.length).toBeGreaterThan(1);
    expect(entities["key-auths"].length).toBe(entities.consumers.length);
    for (const { tags } of Object.values(entities).flat() as { tags: string[] }[])
      expect(tags).toContain("single-audit");
    expect(await entitiesOf(nodes[1])).toEqual(entities);
  });

  test("is not written to where nothing differs", async () => {
    const first = await start();
    await first.firstDelivery;
    await first.close();
    const [node] = nodes;
    const { written, adminUrl } = await recordWrites(node);
    const sync = await start([adminUrl]);
    await sync.firstDelivery;
    expect(written).toEqual([]);
    // And a new key costs what it has, and nothing else.
    const { key, id } = await database.issueKey();
    await waitForStatus(key, 200, [node]);
    expect(written).toEqual([`PUT /consumers/${id}`, `PUT /consumers/${id}/key-auth/${id}`]);
  });

  test("that somebody changed by hand is put right, field by field, and what others made stays", async () => {
    const first = await start([nodes[0].adminUrl]);
    await first.firstDelivery;
    const { key, id } = await database.issueKey();
    const { key: second, id: secondId } = await database.issueKey();
    await waitForStatus(key, 200, [nodes[0]]);
    await waitForStatus(second, 200, [nodes[0]]);
    await first.close();
    const wanted = await entitiesOf(nodes[0]);
    const [node] = nodes;
    const pluginOf = async (name: string) =>
      (await listOf(node, "plugins")).find((it) => it.name === name)?.id;
    const route = (await listOf(node, "routes")).find(({ name }) => name === "postgrest-write")?.id;
    await node.admin("PATCH", `/plugins/${await pluginOf("key-auth")}`, { enabled: false });
    await node.admin("PATCH", `/plugins/${await pluginOf("rate-limiting")}`, { config: { minute: 7 } });
    await node.admin("PATCH", `/services/${wanted.services[0].id}`, { read_timeout: 1 });
    await node.admin("DELETE", `/routes/${route}`);
    await node.admin("DELETE", `/consumers/${id}`);
    await node.admin("DELETE", `/key-auths/${secondId}`);
    const stray = "88888888-8888-4888-8888-888888888888";
    await node.admin("PUT", `/consumers/${stray}`, { username: "stray", tags: ["single-audit"] });
    await node.admin("PUT", `/consumers/${stray}/key-auth/${stray}`, { key: "s", tags: ["single-audit"] });
    const foreign = "77777777-7777-4777-8777-777777777777";
    await node.admin("PUT", `/consumers/${foreign}`, { username: "somebody-else" });

    const sync = await start([node.adminUrl]);
    await sync.firstDelivery;
    const { consumers, ...rest } = await entitiesOf(node);
    expect(consumers.filter((it: { id: string }) => it.id !== foreign)).toEqual(wanted.consumers);
    expect(consumers).toHaveLength(wanted.consumers.length + 1);
    const sorted = (list: { id: string }[]) => list.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    for (const [kind, list] of Object.entries(rest))
      expect(sorted(list as { id: string }[])).toEqual(sorted(wanted[kind]));
    expect(await node.ask(key)).toBe(200);
    expect(sync.log()).toContain("entities of others");
    expect(sync.log()).toContain("consumers somebody-else");
    expect(await sync.metrics.registry.metrics()).toContain(
      `gateway_sync_foreign_entities{node="${node.adminUrl}"} 1`,
    );
  });

  test("restored from an old back-up is brought up to date within seconds", async () => {
    const { key: revoked, id } = await database.issueKey();
    const sync = await start([nodes[0].adminUrl]);
    await sync.firstDelivery;
    const [node] = nodes;
    const old = {
      consumer: (await node.admin("GET", `/consumers/${id}`)).json,
      credential: (await node.admin("GET", `/key-auths/${id}`)).json,
    };
    await database.client.query("update access.api_keys set revoked_at = now() where id = $1", [id]);
    await waitForStatus(revoked, 401, [node]);
    const { key: added, id: addedId } = await database.issueKey();
    await waitForStatus(added, 200, [node]);
    await waitFor("it is current", () => sync.state().nodes[node.adminUrl] === "current");
    // The back-up has the revoked key and not yet the new one.
    await node.admin("PUT", `/consumers/${id}`, old.consumer);
    await node.admin("PUT", `/consumers/${id}/key-auth/${id}`, old.credential);
    await node.admin("DELETE", `/consumers/${addedId}`);
    expect(await node.ask(revoked)).toBe(200);
    expect(await waitForStatus(added, 200, [node])).toBeLessThan(4_000);
    expect(await waitForStatus(revoked, 401, [node])).toBeLessThan(4_000);
  });

  test("is filled by two syncs at once, and by one after another was killed anywhere", async () => {
    const [node] = nodes;
    for (let index = 0; index < 60; index += 1) await database.issueKey();
    const killed = await start([node.adminUrl]);
    await waitFor("it has begun", async () => (await listOf(node, "consumers")).length > 5);
    // Requests under way are cut off, as at a kill.
    await killed.close();
    const both = [await start([node.adminUrl]), await start([node.adminUrl])];
    const { key, id } = await database.issueKey();
    await Promise.all(both.map(({ firstDelivery }) => firstDelivery));
    await waitForStatus(key, 200, [node]);
    const { rows } = await database.client.query("select count(*)::int as count from access.active_keys");
    await waitFor(
      "all keys are there",
      async () => (await listOf(node, "key-auths")).length === rows[0].count,
    );
    await database.client.query("update access.api_keys set revoked_at = now() where id = $1", [id]);
    expect(await waitForStatus(key, 401, [node])).toBeLessThan(reactionMilliseconds);
    await sleep(1_500);
    expect(await node.ask(key)).toBe(401);
    for (const sync of both) expect(sync.state().nodes[node.adminUrl]).toBe("current");
  });
});
