import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { startReportService } from "../../report-service/start-report-service.ts";
import { writeSample } from "../../scripts/sample/write-sample.ts";
import { readStackConfig, settlePorts } from "../../scripts/stack/config.ts";
import type { Secrets } from "../../scripts/stack/secrets.ts";
import type { StackFacts } from "../../scripts/stack/start-stack.ts";
import { plantSuppressedValues } from "./plant-values.ts";

/** A one-machine stack that may be killed. */
export interface OwnStack {
  directory: string;
  facts: StackFacts;
  /** Its process, of which all others are children. */
  pid: () => number;
  /** Address of a second report service on the same database and storage. */
  secondAppUrl: string;
  /** Stops it and removes its data. */
  dispose: () => Promise<void>;
}

const project = path.resolve(import.meta.dirname, "../..");
const ports = ["GATEWAY", "APP", "STORAGE", "DATABASE", "POSTGREST", "POSTGREST_ADMIN"] as const;

/**
 * Runs `npm start` on free ports, and a report service beside it. It is started again on the same ports whenever it has
 * ended, as systemd or Docker would.
 */
export async function startOwnStack(): Promise<OwnStack> {
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-torture-"));
  const sample = path.join(directory, "planted");
  await writeSample({ directory: sample });
  await plantSuppressedValues(sample);
  const settled = await settlePorts(
    readStackConfig(Object.fromEntries(ports.map((name) => [`${name}_PORT`, "0"]))),
  );
  const env = {
    ...process.env,
    ...Object.fromEntries(ports.map((name) => [`${name}_PORT`, String(settled[`${name}_PORT`])])),
    STACK_DIRECTORY: directory,
    // With a database of its own, whatever is exported.
    DATABASE_URL: "",
  };
  let child: ChildProcess;
  let isStopping = false;
  const start = async (args: string[] = []): Promise<void> => {
    child = spawn(process.execPath, ["--import", "tsx", "scripts/start.ts", ...args], {
      cwd: project,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on("data", (chunk: Buffer) => chunk.includes("Ctrl-C stops it.") && resolve());
      child.once("close", (code) => reject(new Error(`npm start ended with ${code}:\n${output}`)));
    });
    child.once("close", restart);
  };
  const restart = () => {
    if (!isStopping) start().catch(restart);
  };
  await start(["--data", sample]);
  const read = async (name: string) => JSON.parse(await readFile(path.join(directory, name), "utf8"));
  const facts: StackFacts = await read("stack.json");
  const secrets: Secrets = await read("secrets.json");
  const second = await startSecondApp(facts, secrets, settled.STORAGE_PORT);
  return {
    directory,
    facts,
    pid: () => child.pid ?? 0,
    secondAppUrl: second.url,
    dispose: async () => {
      isStopping = true;
      await second.close();
      const closed = new Promise((resolve) => child.once("close", resolve));
      if (child.exitCode === null && child.signalCode === null && child.kill("SIGINT")) await closed;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function startSecondApp({ database_url }: StackFacts, secrets: Secrets, storagePort: number) {
  const url = new URL(database_url);
  [url.username, url.password] = ["report_service", secrets.rolePasswords.report_service];
  return await startReportService({
    host: "127.0.0.1",
    port: 0,
    database: { connectionString: url.href },
    storage: {
      kind: "local",
      url: `http://127.0.0.1:${storagePort}`,
      secret: secrets.storageSigningSecret,
    },
    logger: pino({ level: "silent" }),
  });
}
