import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { which } from "zx";
import { startProgram } from "../../scripts/servers/run-program.ts";

/** The path of redis-server, or else of valkey-server; undefined if neither is on the PATH. */
export const redisProgram =
  (await which("redis-server", { nothrow: true })) ??
  (await which("valkey-server", { nothrow: true })) ??
  undefined;

export type RunningRedis = Awaited<ReturnType<typeof startRedis>>;

/** Starts a Redis that stores nothing on disk. */
export async function startRedis(port: number, password: string) {
  const {
    pid = 0,
    ready,
    stop,
  } = startProgram({
    name: "Redis",
    command: redisProgram ?? "",
    args: ["--port", String(port), "--bind", "127.0.0.1", "--requirepass", password, "--save", ""],
    env: {},
    isReady: () => isListening(port),
  });
  await ready;
  return {
    pid,
    /** Stops it from answering until thaw(). */
    freeze: () => process.kill(pid, "SIGSTOP"),
    thaw: () => process.kill(pid, "SIGCONT"),
    /** Runs a command, such as `CONFIG SET maxmemory 1`. */
    run: async (command: string) => {
      const socket = connect(port, "127.0.0.1");
      socket.end(`AUTH "${password}"\r\n${command}\r\nQUIT\r\n`);
      await text(socket);
    },
    stop: () => stop(),
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isOpen = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
