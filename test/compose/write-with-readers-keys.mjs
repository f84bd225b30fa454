// Runs in the report service's container: exits with 1 if its keys can write to the storage.
import { readFileSync } from "node:fs";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";

const { S3_BUCKET: Bucket, S3_ENDPOINT, S3_REGION: region } = process.env;
const read = (name) => readFileSync(process.env[`${name}_FILE`], "utf8");
const credentials = {
  accessKeyId: read("AWS_ACCESS_KEY_ID"),
  secretAccessKey: read("AWS_SECRET_ACCESS_KEY"),
};
const connect = (endpoint) =>
  new S3Client({ endpoint, region, credentials, forcePathStyle: true, maxAttempts: 1 });
for (const client of [connect(S3_ENDPOINT), connect("http://storage:7070")]) {
  const written = await client.send(new PutObjectCommand({ Bucket, Key: "reports/x.pdf", Body: "x" })).then(
    () => true,
    (error) => console.log(`Refused: ${error.name}`),
  );
  if (written) process.exit(1);
}
