import { once } from "node:events";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import type { ProcessContext } from "../../shared/process-context.ts";

/** Reads a key from standard input. On a terminal, it prompts for the key and does not echo it. */
export async function readKey({ stdin, stderr }: Pick<ProcessContext, "stdin" | "stderr">): Promise<string> {
  if (!stdin.isTTY) return (await text(stdin)).trim();
  stderr.write("Key: ");
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: stdin, output: nowhere, terminal: true });
  terminal.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const [line] = await Promise.race([once(terminal, "line"), once(terminal, "close")]);
    return String(line ?? "").trim();
  } finally {
    terminal.close();
    stderr.write("\n");
  }
}
