import { randomUUID } from "node:crypto";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Pool } from "pg";
import { type Logger, pino } from "pino";
import type { StorageConfig } from "../../report-service/config.ts";
import type { RunningServer } from "../../report-service/listen.ts";
import { startLocalStorage } from "../../report-service/local-storage.ts";
import { startReportService } from "../../report-service/start-report-service.ts";
import { startS3Server } from "../support/s3-server.ts";
import { target } from "../support/target.ts";
import { type Relay, startRelay } from "./relay.ts";

export const reportId = "2023-06-GSAFAC-0000000001";
export const pdf = "%PDF-1.7\n% the stored bytes \xff\x00\n";
export const signingSecret = "0123456789abcdef0123456789abcdef";
export const downloads = "/dissemination/report/pdf/ota";

export const bucket = "single-audit";
export const credentials = { accessKeyId: "AKIDTEST", secretAccessKey: "a/secret+key" };
const s3 = {
  kind: "s3",
  bucket,
  region: "us-gov-west-1",
  keyPrefix: "reports/",
  forcePathStyle: true,
} as const;

/** What every log must be free of: signatures, their parameters, and secrets. */
export const loggedSecrets = /[?&]expires=|signature=|X-Amz|AKIDTEST|a\/secret|0123456789abcdef/i;

interface Storage {
  port: number;
  /** How the report service reaches it at this address. */
  describe: (url: string) => StorageConfig;
  /** The same with credentials that it refuses. */
  describeStranger: (url: string) => StorageConfig;
  add: (report: string) => Promise<unknown>;
  /** Makes it answer 500 until the returned function is called. */
  fail: () => Promise<() => Promise<unknown>>;
  close: () => Promise<unknown>;
}

/** The two kinds of storage. Each has the file of `reportId`. */
const storages = {
  disk: async (logger: Logger): Promise<Storage> => {
    const directory = await mkdtemp(path.join(tmpdir(), "reports-"));
    const secret = signingSecret;
    const server = await startLocalStorage({ host: "127.0.0.1", port: 0, directory, secret, logger });
    return {
      port: Number(new URL(server.url).port),
      describe: (url) => ({ kind: "local", url, secret }),
      describeStranger: (url) => ({ kind: "local", url, secret: "another secret, of 32 characters" }),
      add: (report) => writeFile(path.join(directory, `${report}.pdf`), pdf, "latin1"),
      fail: async () => {
        await rename(directory, `${directory}.gone`);
        return () => rename(`${directory}.gone`, directory);
      },
      close: async () => {
        await server.close();
        await rm(directory, { recursive: true });
      },
    };
  },
  S3: async (): Promise<Storage> => {
    const server = await startS3Server({ ...credentials, bucket });
    const stranger = { ...credentials, secretAccessKey: "wrong" };
    return {
      port: server.port,
      describe: (endpoint) => ({ ...s3, endpoint, credentials }),
      describeStranger: (endpoint) => ({ ...s3, endpoint, credentials: stranger }),
      add: async (report) => server.objects.set(`reports/${report}.pdf`, Buffer.from(pdf, "latin1")),
      fail: async () => {
        server.failure = { status: 500, code: "InternalError" };
        return async () => Object.assign(server, { failure: null });
      },
      close: server.close,
    };
  },
};

export type StorageKind = keyof typeof storages;
export const storageKinds = Object.keys(storages) as StorageKind[];

/** A report service with its storage, tokens, and a wire that can be cut between it and each thing it needs. */
export type Parts = Awaited<ReturnType<typeof startParts>>;

export async function startParts(kind: StorageKind = "disk") {
  const { logger, lines: log } = captureLogs();
  const storage = await storages[kind](logger);
  await storage.add(reportId);
  const storageWire = await startRelay(storage.port);
  const databaseWire = await startRelay(Number(new URL(target.databaseUrl).port || 5432));
  const storageUrl = `http://127.0.0.1:${storageWire.port}`;
  const connectionString = serviceDatabaseUrl(target.databaseUrl, databaseWire);
  const tokens = openTokens();
  const services: RunningServer[] = [];
  /** Starts one more report service over the same wires. */
  const startAnother = async (storageConfig = storage.describe(storageUrl)) => {
    const database = { connectionString };
    const service = await startReportService({
      host: "127.0.0.1",
      port: 0,
      database,
      storage: storageConfig,
      logger,
    });
    services.push(service);
    return service;
  };
  const { url } = await startAnother();
  const close = async () => {
    await Promise.all(services.map((service) => service.close()));
    await Promise.all([tokens.close(), storage.close(), storageWire.refuse(), databaseWire.refuse()]);
  };
  return { url, storage, storageUrl, databaseWire, storageWire, tokens, log, startAnother, close };
}

/** Keeps everything that is logged, the finest level included. */
export function captureLogs(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  return { lines, logger: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }) };
}

/** The database's address for a connection with the rights of report_service alone, over a wire if given. */
export function serviceDatabaseUrl(databaseUrl: string, wire?: Relay): string {
  const url = new URL(databaseUrl);
  if (wire !== undefined) url.host = `127.0.0.1:${wire.port}`;
  url.searchParams.set("options", "-c role=report_service");
  return url.href.replaceAll("+", "%20");
}

/** A pool on a database that may be dropped while the pool's last connections close. */
export function openPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString, max: 4 });
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Makes tokens as access.issue_access_token() does, and looks at them as the database's superuser. */
export function openTokens(databaseUrl = target.databaseUrl) {
  const pool = openPool(databaseUrl);
  const issued: string[] = [];
  const change = (sql: string, token: string) =>
    pool.query(`update access.access_tokens ${sql} where token_sha256 = sha256(uuid_send($1))`, [token]);
  return {
    issued,
    issue: async (report = reportId): Promise<string> => {
      const token = randomUUID();
      issued.push(token);
      await pool.query(
        `insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at)
         select sha256(uuid_send($1)), id, $2, now() + interval '1 minute'
         from access.api_keys limit 1`,
        [token, report],
      );
      return token;
    },
    expire: (token: string) => change("set expires_at = now()", token),
    isSpent: async (token: string): Promise<boolean> => {
      const { rows } = await pool.query<{ spent: boolean }>(
        "select redeemed_at is not null as spent from access.access_tokens where token_sha256 = sha256(uuid_send($1))",
        [token],
      );
      if (rows[0] === undefined) throw new Error("There is no such token.");
      return rows[0].spent;
    },
    /** Removes every token that it made. */
    close: async () => {
      await pool.query(
        `delete from access.access_tokens using unnest($1::uuid[]) as token
         where token_sha256 = sha256(uuid_send(token))`,
        [issued],
      );
      await pool.end();
    },
  };
}
