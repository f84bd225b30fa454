import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { access, chmod, chown, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { startChildProcess, unprivilegedId, withoutPrivileges } from "../../scripts/servers/child-process.ts";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";
import { connect } from "../../service/connect.ts";

const parent = "/usr/lib/postgresql";

/** A PostgreSQL server of Debian's packages, as its superuser. */
export interface DebianServer {
  url: string;
  close: () => Promise<void>;
}

/** The PostgreSQL servers that Debian's packages have put on this machine, by major version. */
export async function findDebianServers(): Promise<
  { version: number; start: () => Promise<DebianServer> }[]
> {
  const names = await readdir(parent).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const directory = path.join(parent, name, "bin");
      const isServer = await access(path.join(directory, "postgres")).then(
        () => true,
        () => false,
      );
      return isServer ? [{ version: Number(name), start: () => startServer(directory) }] : [];
    }),
  );
  return found.flat();
}

async function startServer(bin: string): Promise<DebianServer> {
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-debian-"));
  const [data, passwordFile, password] = [
    path.join(directory, "data"),
    path.join(directory, "p"),
    randomUUID(),
  ];
  await writeFile(passwordFile, password);
  await chmod(directory, 0o711);
  if (process.getuid?.() === 0) {
    await chown(directory, unprivilegedId, unprivilegedId);
    await chown(passwordFile, unprivilegedId, unprivilegedId);
  }
  const env = { LC_ALL: "C.UTF-8", PATH: "/usr/bin:/bin" };
  const [command, args] = withoutPrivileges(path.join(bin, "initdb"), [
    ...["-D", data, "-U", "postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`, "--no-sync"],
  ]);
  await promisify(execFile)(command, args, { env });
  const port = await findFreePort();
  const child = startChildProcess({
    name: "PostgreSQL",
    command: path.join(bin, "postgres"),
    args: ["-D", data, "-c", "listen_addresses=127.0.0.1", "-p", String(port), "-k", ""],
    env,
    stopSignal: "SIGINT",
  });
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  let ending: string | undefined;
  void child.ended.then((line) => {
    ending = line;
  });
  for (let client: Awaited<ReturnType<typeof connect>> | undefined; client === undefined; await sleep(50)) {
    if (ending !== undefined) throw new Error(ending);
    client = await connect(url, "test").catch(() => undefined);
    await client?.end();
  }
  return {
    url,
    close: async () => {
      await child.stop(2000);
      await rm(directory, { recursive: true });
    },
  };
}
