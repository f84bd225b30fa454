import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Logger, pino } from "pino";
import type { StorageConfig } from "../../report-service/config.ts";
import type { RunningServer } from "../../report-service/listen.ts";
import { startLocalStorage } from "../../report-service/local-storage.ts";
import { startReportService } from "../../report-service/start-report-service.ts";
import { databaseUrl, serviceDatabaseUrl } from "./database.ts";
import { type Relay, startRelay } from "./relay.ts";

export const reportId = "2023-06-GSAFAC-0000000001";
export const pdf = "%PDF-1.7\n% the stored bytes \xff\x00\n";
export const signingSecret = "0123456789abcdef0123456789abcdef";
export const downloads = "/dissemination/report/pdf/ota";

/** A report service with a local storage, and a wire that can be cut between it and each thing it needs. */
export interface Parts {
  url: string;
  storageUrl: string;
  /** Holds the file of `reportId`. */
  directory: string;
  databaseWire: Relay;
  storageWire: Relay;
  logs: Logs;
  /** Starts one more report service, over the same wires. */
  startAnother(storage?: Partial<StorageConfig>): Promise<RunningServer>;
  close(): Promise<void>;
}

export interface Logs {
  logger: Logger;
  lines: string[];
}

/** Keeps everything that is logged, the finest level included. */
export function captureLogs(): Logs {
  const lines: string[] = [];
  return { lines, logger: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }) };
}

export async function startParts(): Promise<Parts> {
  const logs = captureLogs();
  const { logger } = logs;
  const directory = await mkdtemp(path.join(tmpdir(), "reports-"));
  await writeFile(path.join(directory, `${reportId}.pdf`), pdf, "latin1");
  const localStorage = await startLocalStorage({
    host: "127.0.0.1",
    port: 0,
    directory,
    secret: signingSecret,
    logger,
  });
  const storageWire = await startRelay(Number(new URL(localStorage.url).port));
  const databaseWire = await startRelay(Number(databaseUrl().port || 5432));
  const storageUrl = `http://127.0.0.1:${storageWire.port}`;
  const services: RunningServer[] = [];
  const startAnother = async (storage: Partial<StorageConfig> = {}) => {
    const service = await startReportService({
      host: "127.0.0.1",
      port: 0,
      database: { connectionString: serviceDatabaseUrl(databaseWire.port) },
      storage: { kind: "local", url: storageUrl, secret: signingSecret, ...storage } as StorageConfig,
      logger,
    });
    services.push(service);
    return service;
  };
  const { url } = await startAnother();
  return {
    url,
    storageUrl,
    directory,
    databaseWire,
    storageWire,
    logs,
    startAnother,
    close: async () => {
      await Promise.all(services.map((service) => service.close()));
      await localStorage.close();
      await storageWire.close();
      await databaseWire.close();
      await rm(directory, { recursive: true });
    },
  };
}
