import { randomUUID } from "node:crypto";
import path from "node:path";
import { Pool } from "pg";
import { type Logger, pino } from "pino";
import { beforeAll, expect } from "vitest";
import { startReportService } from "../../report-service/start-report-service.ts";
import type { S3StoreOptions } from "../../report-service/storage.ts";
import type { RunningApp } from "../../shared/web/start-app.ts";
import { makeDirectory } from "../support/make-directory.ts";
import { type Relay, startRelay } from "../support/relay.ts";
import { startS3Server } from "../support/s3-server.ts";
import { target } from "../support/target.ts";

export const reportId = "2023-06-GSAFAC-0000000001";
export const pdf = "%PDF-1.7\n% the stored bytes \xff\x00\n";
/** The response with which a client receives it. */
export const pdfAnswer = {
  status: 200,
  body: pdf,
  headers: {
    "content-type": "application/pdf",
    "content-disposition": `attachment; filename="${reportId}.pdf"`,
    "content-length": String(pdf.length),
    "cache-control": "private, no-store",
  },
};
export const downloads = "/dissemination/report/pdf/ota";

export const bucket = "single-audit";
export const credentials = { accessKeyId: "AKIDTEST", secretAccessKey: "a/secret+key" };

/** Matches what logs must never contain, besides tokens: signatures, their parameters and secrets. */
export const loggedSecrets = /[?&]expires=|signature=|X-Amz|AKIDTEST|a\/secret/i;

export const describeS3 = (port: number, changes: Partial<S3StoreOptions> = {}): S3StoreOptions => {
  const basic = { bucket, region: "us-gov-west-1", keyPrefix: "reports/", forcePathStyle: true };
  return { ...basic, endpoint: `http://127.0.0.1:${port}`, credentials, ...changes };
};

/** Creates a directory for the tests that follow. Returns a function that builds paths inside it. */
export function useDirectory(): (...names: string[]) => string {
  let directory: string;
  beforeAll(async () => {
    directory = await makeDirectory();
  });
  return (...names) => path.join(directory, ...names);
}

type Options = Partial<Parameters<typeof startReportService>[0]>;

/**
 * A report service with its tokens and S3 storage. Tests can cut its connections to storage and the database. `close`
 * also asserts that the log contains no token and no secret.
 */
export type Parts = Awaited<ReturnType<typeof startParts>>;

export async function startParts(options: Options = {}, databaseUrl = target.databaseUrl) {
  const lines: string[] = [];
  const readLog = () => lines.join("");
  const logger: Logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const objects = { [`reports/${reportId}.pdf`]: pdf, "source/general.csv": "report_id\n" };
  const s3 = await startS3Server({ ...credentials, bucket, objects });
  const storageWire = await startRelay(s3.port);
  const databaseWire = await startRelay(Number(new URL(databaseUrl).port || 5432));
  const tokens = openTokens(databaseUrl);
  const services: RunningApp[] = [];
  /** Starts another report service, with the same connections to storage and the database. */
  const startAnother = async (changes: Options = options) => {
    const service = await startReportService({
      host: "127.0.0.1",
      port: 0,
      database: { connectionString: serviceDatabaseUrl(databaseUrl, databaseWire) },
      storage: { kind: "s3", ...describeS3(storageWire.port) },
      logger,
      ...changes,
    });
    services.push(service);
    return service;
  };
  const { url } = await startAnother();
  const close = async () => {
    await Promise.all(services.map((service) => service.close()));
    await Promise.all([tokens.close(), s3.close(), storageWire.refuse(), databaseWire.refuse()]);
    expect(readLog()).not.toMatch(loggedSecrets);
    for (const token of tokens.issued) expect(readLog().toLowerCase()).not.toContain(token);
  };
  return { url, s3, storageWire, databaseWire, tokens, readLog, startAnother, close };
}

/** The database's URL for connections with only the rights of a role, through `wire` if given. */
export function serviceDatabaseUrl(databaseUrl: string, wire?: Relay, role = "report_service"): string {
  const url = new URL(databaseUrl);
  if (wire !== undefined) url.host = `127.0.0.1:${wire.port}`;
  url.searchParams.set("options", `-c role=${role}`);
  return url.href.replaceAll("+", "%20");
}

/** A pool that ignores lost connections, because the database may be dropped while the last ones close. */
export function openPool(connectionString: string): Pool {
  const pool = new Pool({ connectionString, max: 4 });
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export interface TribalKey {
  id: string;
  agreement: string;
}

async function makeTribalKey(pool: Pool): Promise<TribalKey> {
  const { rows } = await pool.query<TribalKey>(
    `select issued.api_key_id as id, agreement
     from access.request_agreement('Test Nation', 'office@example.gov') as agreement
     cross join lateral access.decide_agreement(agreement, 'approved', 'Ada', 'Agency', 'ada@example.gov')
     cross join lateral access.issue_key('tribal', 'office@example.gov', key_agreement_id => agreement) as issued`,
  );
  if (rows[0] === undefined) throw new Error("No key was issued.");
  return rows[0];
}

/** Issues tokens as access.issue_access_token() does, and reads them as the database's superuser. */
export function openTokens(databaseUrl = target.databaseUrl) {
  const pool = openPool(databaseUrl);
  const issued: string[] = [];
  let usualKey: Promise<TribalKey> | undefined;
  const ofToken = "where token_sha256 = sha256(uuid_send($1))";
  return {
    issued,
    /** Issues a token to a Tribal key, by default to one that all these tokens share. */
    issue: async (report = reportId, key?: TribalKey): Promise<string> => {
      usualKey ??= makeTribalKey(pool);
      const { id } = key ?? (await usualKey);
      const token = randomUUID();
      issued.push(token);
      await pool.query(
        `insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at)
         values (sha256(uuid_send($1)), $3, $2, now() + interval '1 minute')`,
        [token, report, id],
      );
      return token;
    },
    makeKey: () => makeTribalKey(pool),
    expire: (token: string) =>
      pool.query(`update access.access_tokens set expires_at = now() ${ofToken}`, [token]),
    isSpent: async (token: string): Promise<boolean> => {
      const { rows } = await pool.query<{ spent: boolean }>(
        `select redeemed_at is not null as spent from access.access_tokens ${ofToken}`,
        [token],
      );
      if (rows[0] === undefined) throw new Error("There is no such token.");
      return rows[0].spent;
    },
    /** Deletes the issued tokens and closes the pool. */
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
