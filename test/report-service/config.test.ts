import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readReportServiceConfig } from "../../report-service/config.ts";
import { useDirectory } from "./parts.ts";

const database = { REPORT_SERVICE_DATABASE_URL: "postgres://report_service:hunter2@db/single_audit" };
const local = { ...database, REPORTS_DIRECTORY: "/srv/reports" };
const s3 = { ...database, S3_BUCKET: "reports", S3_REGION: "us-gov-west-1" };

const inDirectory = useDirectory();

test("has defaults for all but the database and the storage", () => {
  expect(readReportServiceConfig({ ...local, APP_HOST: "" })).toEqual({
    host: "127.0.0.1",
    port: 8001,
    database: { connectionString: database.REPORT_SERVICE_DATABASE_URL },
    storage: { kind: "local", directory: "/srv/reports" },
  });
  const basic = { kind: "s3", bucket: "reports", region: "us-gov-west-1" };
  expect(readReportServiceConfig(s3).storage).toEqual({
    ...basic,
    keyPrefix: "reports/",
    forcePathStyle: false,
  });
});

test("takes each secret from a file, without the line's end", async () => {
  const write = async (name: string, content: string) => {
    await writeFile(inDirectory(name), `${content}\n`);
    return inDirectory(name);
  };
  const environment = {
    S3_BUCKET: "reports",
    S3_REGION: "us-east-1",
    REPORT_SERVICE_DATABASE_URL_FILE: await write("url", "postgres://report_service@db/x"),
    REPORT_SERVICE_DATABASE_PASSWORD_FILE: await write("password", "hunter2"),
    AWS_ACCESS_KEY_ID_FILE: await write("id", "AKID"),
    AWS_SECRET_ACCESS_KEY_FILE: await write("key", "a secret"),
    AWS_SESSION_TOKEN_FILE: await write("token", "a token"),
  };
  const credentials = { accessKeyId: "AKID", secretAccessKey: "a secret", sessionToken: "a token" };
  expect(readReportServiceConfig(environment)).toMatchObject({
    database: { connectionString: "postgres://report_service:hunter2@db/x" },
    storage: { credentials },
  });
  const { REPORT_SERVICE_DATABASE_URL_FILE: _, ...byHost } = { ...environment, PGHOST: "db" };
  expect(readReportServiceConfig(byHost).database).toEqual({ password: "hunter2" });
});

test.each<[variable: string, what: string, base: object, changes: object]>([
  ["REPORT_SERVICE_DATABASE_URL", "is missing", local, { REPORT_SERVICE_DATABASE_URL: "" }],
  ["REPORTS_DIRECTORY", "should be set to the directory of the PDFs, or S3_BUCKET", database, {}],
  ["REPORTS_DIRECTORY", "should be set to the directory of the PDFs, or S3_BUCKET", local, s3],
  ["S3_REGION", "is missing: it should be the bucket's region", s3, { S3_REGION: "" }],
  ["S3_ENDPOINT", "should be the S3 API's address", s3, { S3_ENDPOINT: "minio" }],
  ["S3_FORCE_PATH_STYLE", "should be true or false", s3, { S3_FORCE_PATH_STYLE: "yes" }],
  ["APP_PORT", "should be a port number", local, { APP_PORT: "65536" }],
  ["TRUSTED_IPS", "should be addresses or ranges", local, { TRUSTED_IPS: "10.0.0.0/8 lb" }],
])("says in one line, without a value, that %s %s", (variable, what, base, changes) => {
  const read = () => readReportServiceConfig({ ...base, ...changes });
  expect(read).toThrow(`${variable} ${what}`);
  expect(read).toThrow(/^[^\n]+\. Set it in the environment or in \.env\.$/);
  expect(read).not.toThrow("hunter2");
});

test("is refused if a secret's file cannot be read, or is given twice", () => {
  const file = inDirectory("missing");
  expect(() => readReportServiceConfig({ REPORT_SERVICE_DATABASE_URL_FILE: file })).toThrow(
    `REPORT_SERVICE_DATABASE_URL_FILE names ${file}, which cannot be read (ENOENT).`,
  );
  expect(() => readReportServiceConfig({ ...local, REPORT_SERVICE_DATABASE_URL_FILE: file })).toThrow(
    "REPORT_SERVICE_DATABASE_URL and REPORT_SERVICE_DATABASE_URL_FILE are both set.",
  );
});
