import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readLocalStorageConfig, readReportServiceConfig } from "../../report-service/config.ts";

const secret = "0123456789abcdef0123456789abcdef";
const database = { REPORT_SERVICE_DATABASE_URL: "postgres://report_service:hunter2@db/single_audit" };
const local = { ...database, STORAGE_URL: "http://127.0.0.1:8002", STORAGE_SIGNING_SECRET: secret };
const s3 = { ...database, S3_BUCKET: "reports", S3_REGION: "us-gov-west-1" };

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "secrets-"));
});
afterAll(() => rm(directory, { recursive: true }));

describe("the report service's configuration", () => {
  test("has defaults for all but the database and the storage", () => {
    expect(readReportServiceConfig({ ...local, APP_HOST: "" })).toEqual({
      host: "127.0.0.1",
      port: 8001,
      database: { connectionString: database.REPORT_SERVICE_DATABASE_URL },
      storage: { kind: "local", url: "http://127.0.0.1:8002", secret },
    });
    expect(readReportServiceConfig(s3).storage).toEqual({
      kind: "s3",
      bucket: "reports",
      region: "us-gov-west-1",
      keyPrefix: "reports/",
      endpoint: undefined,
      publicEndpoint: undefined,
      forcePathStyle: false,
      credentials: undefined,
    });
  });

  test("takes each secret from a file, without the line's end", async () => {
    const write = async (name: string, content: string) => {
      const file = path.join(directory, name);
      await writeFile(file, `${content}\n`);
      return file;
    };
    const config = readReportServiceConfig({
      S3_BUCKET: "reports",
      S3_REGION: "us-east-1",
      S3_FORCE_PATH_STYLE: "true",
      REPORT_SERVICE_DATABASE_URL_FILE: await write("url", "postgres://report_service@db/x"),
      REPORT_SERVICE_DATABASE_PASSWORD_FILE: await write("password", "hunter2"),
      AWS_ACCESS_KEY_ID_FILE: await write("id", "AKID"),
      AWS_SECRET_ACCESS_KEY_FILE: await write("key", "a secret"),
    });
    expect(config.database).toEqual({ connectionString: "postgres://report_service:hunter2@db/x" });
    expect(config.storage).toMatchObject({
      forcePathStyle: true,
      credentials: { accessKeyId: "AKID", secretAccessKey: "a secret" },
    });
    const withoutAddress = { ...local, REPORT_SERVICE_DATABASE_URL: "", PGHOST: "db" };
    const file = await write("s", secret);
    const other = { ...withoutAddress, STORAGE_SIGNING_SECRET: "", STORAGE_SIGNING_SECRET_FILE: file };
    expect(readReportServiceConfig(other)).toMatchObject({ database: {}, storage: { secret } });
  });

  const cases: [variable: string, what: string, base: object, changes: object][] = [
    ["REPORT_SERVICE_DATABASE_URL", "is missing", local, { REPORT_SERVICE_DATABASE_URL: "" }],
    ["STORAGE_URL", "should be set for the local storage, or S3_BUCKET for S3", database, {}],
    ["STORAGE_URL", "should be set for the local storage, or S3_BUCKET for S3", local, s3],
    ["STORAGE_URL", "should be the local storage's address", local, { STORAGE_URL: "127.0.0.1:8002" }],
    ["STORAGE_SIGNING_SECRET", "should have 32 characters", local, { STORAGE_SIGNING_SECRET: "hunter2" }],
    ["S3_REGION", "is missing: it should be the bucket's region", s3, { S3_REGION: "" }],
    ["S3_ENDPOINT", "should be the S3 API's address", s3, { S3_ENDPOINT: "minio" }],
    ["S3_FORCE_PATH_STYLE", "should be true or false", s3, { S3_FORCE_PATH_STYLE: "yes" }],
    ["APP_PORT", "should be a port number", local, { APP_PORT: "65536" }],
  ];
  test.each(cases)("says in one line, without a value, that %s %s", (variable, what, base, changes) => {
    const read = () => readReportServiceConfig({ ...base, ...changes });
    expect(read).toThrow(`${variable} ${what}`);
    expect(read).toThrow(/^[^\n]+\. Set it in the environment or in \.env\.$/);
    expect(read).not.toThrow("hunter2");
  });

  test("is refused if a secret's file cannot be read, or is given twice", () => {
    const file = path.join(directory, "missing");
    expect(() => readReportServiceConfig({ REPORT_SERVICE_DATABASE_URL_FILE: file })).toThrow(
      `REPORT_SERVICE_DATABASE_URL_FILE names ${file}, which cannot be read (ENOENT).`,
    );
    expect(() => readReportServiceConfig({ ...local, STORAGE_SIGNING_SECRET_FILE: file })).toThrow(
      "STORAGE_SIGNING_SECRET and STORAGE_SIGNING_SECRET_FILE are both set.",
    );
  });
});

describe("the local storage's configuration", () => {
  test("needs a directory and a secret", () => {
    expect(
      readLocalStorageConfig({ STORAGE_DIRECTORY: "/srv/reports", STORAGE_SIGNING_SECRET: secret }),
    ).toEqual({
      host: "127.0.0.1",
      port: 8002,
      directory: "/srv/reports",
      secret,
    });
    expect(() => readLocalStorageConfig({})).toThrow(
      /^STORAGE_DIRECTORY is missing.*\nSTORAGE_SIGNING_SECRET is missing/,
    );
  });
});
