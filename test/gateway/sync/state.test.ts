import { describe, expect, test } from "vitest";
import { serveSyncState } from "../../../gateway/serve-sync-state.ts";
import { database, nodes, opened, start, useNodes } from "./set-up.ts";
import { waitFor } from "./support.ts";

useNodes();

describe("what the sync says of itself", () => {
  const serve = async (sync: Awaited<ReturnType<typeof start>>, postgrestReadyUrl?: string) => {
    const server = await serveSyncState(sync, { host: "127.0.0.1", port: 0, postgrestReadyUrl });
    opened.push(server.close);
    return async (path: string) => {
      const response = await fetch(server.url + path);
      return { status: response.status, text: await response.text() };
    };
  };

  test("is in /metrics", async () => {
    const sync = await start();
    await sync.firstDelivery;
    await database.issueKey();
    const [node] = nodes;
    const read = await serve(sync);
    const { rows } = await database.client.query("select count(*)::int as count from access.active_keys");
    await waitFor("the new key is counted", async () =>
      (await read("/metrics")).text.includes(`gateway_sync_active_keys ${rows[0].count}\n`),
    );
    const { text } = await read("/metrics");
    const lastSuccess = new RegExp(
      `gateway_sync_last_success_timestamp_seconds\\{node="${node.adminUrl}"\\} ([0-9.]+)`,
    ).exec(text)?.[1];
    expect(Date.now() / 1000 - Number(lastSuccess)).toBeLessThan(10);
    expect(text).toContain(`gateway_sync_node_is_current{node="${node.adminUrl}"} 1`);
    // It is counted when it is written, which is after it is heard of.
    await waitFor("its delivery is counted", async () =>
      new RegExp(`gateway_sync_lag_seconds_count\\{node="${node.adminUrl}"\\} [1-9]`).test(
        (await read("/metrics")).text,
      ),
    );
    expect(text).toContain("gateway_sync_database_connected 1");
    await nodes[0].stop();
    await waitFor("the node is missed", async () =>
      (await read("/metrics")).text.includes(`gateway_sync_node_is_current{node="${node.adminUrl}"} 0`),
    );
    expect((await read("/metrics")).text).toMatch(
      new RegExp(`gateway_sync_failures_total\\{source="${node.adminUrl}"\\} [1-9]`),
    );
  });

  test("is in /readyz while a node is away, and /healthz stays well", async () => {
    const sync = await start();
    await sync.firstDelivery;
    const read = await serve(sync);
    expect(await read("/readyz")).toMatchObject({ status: 200 });
    await nodes[1].stop();
    await waitFor("it is not ready", async () => (await read("/readyz")).status === 503);
    const { status, text } = await read("/healthz");
    expect({ status, ...JSON.parse(text) }).toEqual({
      status: 200,
      database: "connected",
      nodes: { [nodes[0].adminUrl]: "current", [nodes[1].adminUrl]: "away" },
    });
  });

  test("is not ready while PostgREST is not", async () => {
    const sync = await start();
    await sync.firstDelivery;
    const read = await serve(sync, "http://127.0.0.1:9/ready");
    expect(await read("/readyz")).toMatchObject({ status: 503, text: expect.stringContaining('"away"') });
  });
});
