import { access, chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startChildProcess } from "../../scripts/servers/child-process.ts";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";
import { connect } from "../../service/connect.ts";

const binary = "/usr/sbin/pgbouncer";

/** PgBouncer before a database, which it shares out by transaction; undefined where it is not installed. */
export async function startPgbouncer(
  databaseUrl: string,
): Promise<{ url: string; close: () => Promise<void> } | undefined> {
  const isThere = await access(binary).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-pgbouncer-"));
  await chmod(directory, 0o711);
  const to = new URL(databaseUrl);
  const port = await findFreePort();
  const file = path.join(directory, "pgbouncer.ini");
  await writeFile(
    file,
    `[databases]
* = host=${to.hostname} port=${to.port} user=${to.username} password=${to.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
`,
  );
  const child = startChildProcess({
    ...{ name: "PgBouncer", command: binary, args: [file], env: {}, stopSignal: "SIGINT" },
  });
  const url = new URL(databaseUrl);
  url.port = String(port);
  let ending: string | undefined;
  void child.ended.then((line) => {
    ending = line;
  });
  for (;;) {
    if (ending !== undefined) throw new Error(ending);
    const client = await connect(url.href, "test").catch(() => undefined);
    await client?.end();
    if (client !== undefined) break;
    await sleep(50);
  }
  return {
    url: url.href,
    close: async () => {
      await child.stop(2000);
      await rm(directory, { recursive: true });
    },
  };
}
