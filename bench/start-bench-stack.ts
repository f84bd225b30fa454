import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { totalmem } from "node:os";
import path from "node:path";
import { Client } from "pg";
import { writeSample } from "../scripts/sample/write-sample.ts";
import type { Secrets } from "../scripts/stack/secrets.ts";
import { signGatewayToken } from "../scripts/stack/sign-gateway-token.ts";
import type { StackFacts } from "../scripts/stack/start-stack.ts";
import { unlimitedAddresses, writeHighLimits } from "./write-high-limits.ts";

export interface BenchStack {
  facts: StackFacts;
  directory: string;
  pid: number;
  client: Client;
  secrets: Secrets;
  /** Headers with which PostgREST takes a request for the gateway's. */
  asGateway: (key: string) => Record<string, string>;
  stop: () => Promise<void>;
}

export const project = path.resolve(import.meta.dirname, "..");
const ports = ["GATEWAY", "APP", "STORAGE", "DATABASE", "POSTGREST", "POSTGREST_ADMIN"];

/** Starts a stack of its own on free ports, with ten submissions and without limits. */
export async function startBenchStack(directory: string): Promise<BenchStack> {
  const tiny = path.join(directory, "tiny");
  await mkdir(directory, { recursive: true, mode: 0o711 });
  await writeSample({ directory: tiny, submissions: 10 });
  const stack = path.join(directory, "stack");
  const child = spawn(process.execPath, ["--import", "tsx", "scripts/start.ts", "--data", tiny], {
    cwd: project,
    env: {
      ...process.env,
      ...unlimitedAddresses,
      ...Object.fromEntries(ports.map((name) => [`${name}_PORT`, "0"])),
      STACK_DIRECTORY: stack,
      GATEWAY_CONFIG: await writeHighLimits(directory),
      // As on a server that does nothing else.
      DATABASE_MEMORY: String(Math.round(totalmem() / 2 ** 20)),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => chunk.includes("Ctrl-C stops it.") && resolve());
    child.once("close", (code) => reject(new Error(`npm start ended with ${code}.`)));
  });
  const facts: StackFacts = JSON.parse(await readFile(path.join(stack, "stack.json"), "utf8"));
  const secrets: Secrets = JSON.parse(await readFile(path.join(stack, "secrets.json"), "utf8"));
  const client = new Client({ connectionString: facts.database_url });
  await client.connect();
  await client.query(
    "alter table access.tiers drop constraint tiers_leave_connections_to_others; " +
      "update access.tiers set requests_at_a_time = 8",
  );
  const token = await signGatewayToken(secrets.jwtSecret);
  return {
    facts,
    directory: stack,
    pid: child.pid ?? 0,
    client,
    secrets,
    asGateway: (key) => ({
      authorization: `Bearer ${token}`,
      "x-api-key-sha256": createHash("sha256").update(key).digest("hex"),
    }),
    stop: async () => {
      await client.end();
      child.kill("SIGINT");
      await new Promise((resolve) => child.once("close", resolve));
    },
  };
}
