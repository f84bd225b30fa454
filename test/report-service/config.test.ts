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

  test("takes the database from libpq's variables", () => {
    const { REPORT_SERVICE_DATABASE_URL: _, ...rest } = local;
    expect(readReportServiceConfig({ ...rest, PGHOST: "db" }).database.connectionString).toBeUndefined();
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
    const { STORAGE_SIGNING_SECRET: _, ...rest } = local;
    const storage = readReportServiceConfig({
      ...rest,
      STORAGE_SIGNING_SECRET_FILE: await write("s", secret),
    });
    expect(storage.storage).toMatchObject({ secret });
  });

  test.each<[string, NodeJS.ProcessEnv, string]>([
    ["no database", { ...local, REPORT_SERVICE_DATABASE_URL: "" }, "REPORT_SERVICE_DATABASE_URL is missing"],
    [
      "a database that is no address",
      { ...local, REPORT_SERVICE_DATABASE_URL: "hunter2" },
      "REPORT_SERVICE_DATABASE_URL should be an address such as postgres://",
    ],
    ["no storage", database, "STORAGE_URL should be set for the local storage, or S3_BUCKET for S3"],
    [
      "two storages",
      { ...local, ...s3 },
      "STORAGE_URL should be set for the local storage, or S3_BUCKET for S3",
    ],
    [
      "a storage address without scheme",
      { ...local, STORAGE_URL: "127.0.0.1:8002" },
      "STORAGE_URL should be the local storage's address",
    ],
    [
      "no signing secret",
      { ...local, STORAGE_SIGNING_SECRET: "" },
      "STORAGE_SIGNING_SECRET is missing: it should be the secret",
    ],
    [
      "a short signing secret",
      { ...local, STORAGE_SIGNING_SECRET: "hunter2" },
      "STORAGE_SIGNING_SECRET should have 32 characters",
    ],
    ["no region", { ...s3, S3_REGION: "" }, "S3_REGION is missing: it should be the bucket's region"],
    [
      "an S3 address that is none",
      { ...s3, S3_ENDPOINT: "minio" },
      "S3_ENDPOINT should be the S3 API's address",
    ],
    [
      "a switch that is none",
      { ...s3, S3_FORCE_PATH_STYLE: "yes" },
      "S3_FORCE_PATH_STYLE should be true or false",
    ],
    ["a port that is none", { ...local, APP_PORT: "http" }, "APP_PORT should be a port number"],
    ["a port that is too large", { ...local, APP_PORT: "65536" }, "APP_PORT should be a port number"],
  ])("is refused with %s, in one line that names the variable and no value", (_what, variables, line) => {
    const read = () => readReportServiceConfig(variables);
    expect(read).toThrow(line);
    expect(read).toThrow(/^[^\n]+\. Set it in the environment or in \.env\.$/);
    expect(read).not.toThrow("hunter2");
  });

  test("names every malformed variable at once", () => {
    expect(() => readReportServiceConfig({ ...local, APP_PORT: "x", STORAGE_URL: "x" })).toThrow(
      /APP_PORT.*\n.*STORAGE_URL/,
    );
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
