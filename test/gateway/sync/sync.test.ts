import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { connect } from "../../../service/connect.ts";
import { findServerUrl } from "../../support/scratch-database.ts";
import { database, nodes, opened, reactionMilliseconds, start, useNodes, waitForStatus } from "./set-up.ts";
import { waitFor } from "./support.ts";

useNodes();

describe("a change of a row", () => {
  test("reaches two nodes within two seconds, in both directions", async () => {
    await (await start()).firstDelivery;
    const { key, id } = await database.issueKey();
    expect(await waitForStatus(key, 200)).toBeLessThan(reactionMilliseconds);
    await database.client.query("update access.api_keys set revoked_at = now() where id = $1", [id]);
    expect(await waitForStatus(key, 401)).toBeLessThan(reactionMilliseconds);
  });

  test("of a tier's limits reaches the nodes", async () => {
    await (await start()).firstDelivery;
    const { key } = await database.issueKey();
    await waitForStatus(key, 200);
    await database.client.query("update access.tiers set requests_per_hour = 2 where name = 'individual'");
    opened.push(() =>
      database.client.query("update access.tiers set requests_per_hour = 1000 where name = 'individual'"),
    );
    expect(await waitForStatus(key, 429)).toBeLessThan(reactionMilliseconds);
  });

  test("that comes with a hundred others is delivered at once with them, not one by one", async () => {
    const sync = await start();
    await sync.firstDelivery;
    const keys = [];
    for (let index = 0; index < 100; index += 1) keys.push(await database.issueKey());
    const last = keys.at(-1)?.key ?? "";
    expect(await waitForStatus(last, 200)).toBeLessThan(reactionMilliseconds);
    const { values } = await sync.metrics.lag.get();
    const posts = values.find(({ metricName }) => metricName?.endsWith("_count"))?.value ?? 0;
    expect(posts).toBeGreaterThan(0);
    expect(posts).toBeLessThan(30);
  });
});

test("a key that expires leaves the nodes when it does, without a change of any row", async () => {
  await (await start()).firstDelivery;
  const { key } = await database.issueKey("3 seconds");
  expect(await waitForStatus(key, 200)).toBeLessThan(reactionMilliseconds);
  const untilRefused = await waitForStatus(key, 401);
  expect(untilRefused).toBeLessThan(3_000 + reactionMilliseconds);
});

describe("a node that is away", () => {
  test("holds up neither the start nor the other node, and gets everything when it comes", async () => {
    const [present, absent] = nodes;
    await absent.stop();
    const sync = await start();
    const { key } = await database.issueKey();
    expect(await waitForStatus(key, 200, [present])).toBeLessThan(reactionMilliseconds);
    await waitFor("one is current and one is away", () => {
      const { nodes: states } = sync.state();
      return states[present.adminUrl] === "current" && states[absent.adminUrl] === "away";
    });
    expect(sync.log()).toContain("a gateway node is away");

    await absent.start();
    expect(await waitForStatus(key, 200)).toBeLessThan(4_000);
    await waitFor("it is current", () => sync.state().nodes[absent.adminUrl] === "current");
  });

  test("and accepts connections without ever answering holds up nobody either", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    opened.push(() => {
      silent.closeAllConnections();
      silent.close();
    });
    await start([`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, nodes[0].adminUrl]);
    const { key } = await database.issueKey();
    expect(await waitForStatus(key, 200, [nodes[0]])).toBeLessThan(reactionMilliseconds);
  });

  test("fails the first delivery for who waits for it", async () => {
    await nodes[1].stop();
    const sync = await start();
    await expect(sync.firstDelivery).rejects.toThrow(`The gateway on ${nodes[1].adminUrl} cannot be reached`);
  });
});

test("a restarted node, which is empty, is filled within seconds", async () => {
  await (await start()).firstDelivery;
  const { key } = await database.issueKey();
  await waitForStatus(key, 200);
  await nodes[0].stop();
  await nodes[0].start();
  expect(await waitForStatus(key, 200)).toBeLessThan(4_000);
});

describe("the database", () => {
  const terminate = () =>
    database.client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'gateway-sync' and datname = current_database()`,
    );

  test("that ends the connection is connected to again, and what was missed is delivered", async () => {
    const sync = await start();
    await sync.firstDelivery;
    const { rowCount } = await terminate();
    expect(rowCount).toBe(1);
    // Nobody listens at this moment.
    const { key } = await database.issueKey();
    expect(await waitForStatus(key, 200)).toBeLessThan(reactionMilliseconds);
    const { key: later } = await database.issueKey();
    expect(await waitForStatus(later, 200)).toBeLessThan(reactionMilliseconds);
    expect(sync.state().database).toBe("connected");
  });

  test("that lets nobody in for a while leaves the nodes serving, and is tried again", async () => {
    const sync = await start();
    await sync.firstDelivery;
    const { key } = await database.issueKey();
    await waitForStatus(key, 200);
    const { rows } = await database.client.query("select current_database() as name");
    const allow = async (allowed: boolean) => {
      const server = await connect(findServerUrl(), "test");
      await server.query(`alter database ${rows[0].name} with allow_connections ${allowed}`);
      await server.end();
    };
    await allow(false);
    opened.push(() => allow(true));
    await terminate();
    await waitFor("the sync has noticed", () => sync.state().database === "away");
    expect(await nodes[0].ask(key)).toBe(200);
    const { key: later } = await database.issueKey();
    await allow(true);
    expect(await waitForStatus(later, 200)).toBeLessThan(6_000);
  });

  test("is told which keys were used, once a second", async () => {
    await (await start()).firstDelivery;
    const { id } = await database.issueKey();
    for (let index = 0; index < 5; index += 1) {
      await database.client.query("select pg_notify('api_key_used', $1)", [id]);
    }
    await database.client.query("select pg_notify('api_key_used', 'no key at all')");
    const took = await waitFor("the use is recorded", async () => {
      const { rows } = await database.client.query("select last_used_on from access.api_keys where id = $1", [
        id,
      ]);
      return rows[0].last_used_on !== null;
    });
    expect(took).toBeLessThan(reactionMilliseconds);
  });

  test("lets the role read nothing but the keys' view", async () => {
    const { rows } = await database.client.query(
      `select table_schema || '.' || table_name as name from information_schema.table_privileges
       where grantee = 'gateway_sync'`,
    );
    expect(rows.map(({ name }) => name)).toEqual(["access.active_keys"]);
  });
});
