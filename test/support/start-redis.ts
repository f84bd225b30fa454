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

/** Runs a script without keys that returns a number, as a client with this password. */
export async function askRedis(
  port: number,
  password: string,
  script: string,
  argument: string,
): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`AUTH "${password}"\r\nEVAL "${script}" 0 "${argument}"\r\nQUIT\r\n`);
  const answers = (await text(socket)).split("\r\n");
  return Number(answers[1]?.replace(/^:/, ""));
}

/** Collects the commands that Redis runs, one in each line (Redis: MONITOR), until `stop` is called. */
export async function watchRedis(port: number, password: string) {
  const socket = connect(port, "127.0.0.1");
  let lines = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    lines += chunk;
  });
  socket.write(`AUTH "${password}"\r\nMONITOR\r\n`);
  await once(socket, "data");
  return { read: () => lines, stop: () => socket.destroy() };
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
