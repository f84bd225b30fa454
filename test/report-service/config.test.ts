import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readReportServiceConfig } from "../../report-service/config.ts";
import { useDirectory } from "./parts.ts";

const database = { REPORT_SERVICE_DATABASE_URL: "postgres://report_service:hunter2@db/single_audit" };
const local = { ...database, REPORTS_DIRECTORY: "/srv/reports" };
const s3 = { ...database, S3_BUCKET: "reports", S3_REGION: "us-gov-west-1" };

const inDirectory = useDirectory();

test("has defaults for everything except the database and storage", () => {
  expect(readReportServiceConfig({ ...local, APP_HOST: "" })).toEqual({
    host: "127.0.0.1",
    port: 8001,
    database: { connectionString: database.REPORT_SERVICE_DATABASE_URL },
    storage: { kind: "local", directory: "/srv/reports" },
  });
  const { storage } = readReportServiceConfig(s3);
  expect(storage).toMatchObject({ kind: "s3", keyPrefix: "reports/", forcePathStyle: false });
});

test("reads each secret from its file, without the trailing newline", async () => {
  const secrets = {
    REPORT_SERVICE_DATABASE_URL: "postgres://report_service@db/x",
    REPORT_SERVICE_DATABASE_PASSWORD: "hunter2",
    AWS_ACCESS_KEY_ID: "AKID",
    AWS_SECRET_ACCESS_KEY: "a secret",
    AWS_SESSION_TOKEN: "a token",
  };
  const files: Record<string, string> = {};
  for (const [name, value] of Object.entries(secrets)) {
    files[`${name}_FILE`] = inDirectory(name);
    await writeFile(inDirectory(name), `${value}\n`);
  }
  const { S3_BUCKET, S3_REGION } = s3;
  const read = (more: object) => readReportServiceConfig({ S3_BUCKET, S3_REGION, ...more });
  const credentials = { accessKeyId: "AKID", secretAccessKey: "a secret", sessionToken: "a token" };
  const config = read(files);
  expect(config).toEqual(read(secrets));
  expect(config.database).toEqual({ connectionString: "postgres://report_service:hunter2@db/x" });
  expect(config.storage).toMatchObject({ credentials });
  const byHost = { ...files, REPORT_SERVICE_DATABASE_URL_FILE: "", PGHOST: "db" };
  expect(read(byHost).database).toEqual({ password: "hunter2" });
});

test.each<[variable: string, what: string, base: object, changes: object]>([
  ["REPORT_SERVICE_DATABASE_URL", "is missing", local, { REPORT_SERVICE_DATABASE_URL: "" }],
  ["REPORTS_DIRECTORY", "should be set to the directory of the PDFs, or S3_BUCKET", database, {}],
  ["REPORTS_DIRECTORY", "should be set to the directory of the PDFs, or S3_BUCKET", local, s3],
  ["S3_REGION", "is missing: it should be the bucket's region", s3, { S3_REGION: "" }],
  ["S3_ENDPOINT", "should be the S3 API's URL", s3, { S3_ENDPOINT: "minio" }],
  ["S3_FORCE_PATH_STYLE", "should be true or false", s3, { S3_FORCE_PATH_STYLE: "yes" }],
  ["APP_PORT", "should be a port number", local, { APP_PORT: "65536" }],
  ["TRUSTED_IPS", "should be IP addresses or ranges", local, { TRUSTED_IPS: "10.0.0.0/8 lb" }],
])("says in one line, without showing a secret, that %s %s", (variable, what, base, changes) => {
  const read = () => readReportServiceConfig({ ...base, ...changes });
  expect(read).toThrow(`${variable} ${what}`);
  expect(read).toThrow(/^[^\n]+\. Set it in the environment or in \.env\.$/);
  expect(read).not.toThrow("hunter2");
});

test.each([
  ["names /missing, which cannot be read (ENOENT).", {}],
  ["are both set.", database],
])("rejects a secret file with the message “… REPORT_SERVICE_DATABASE_URL_FILE %s”", (message, more) => {
  const environment = { REPORT_SERVICE_DATABASE_URL_FILE: "/missing", ...more };
  expect(() => readReportServiceConfig(environment)).toThrow(`REPORT_SERVICE_DATABASE_URL_FILE ${message}`);
});
