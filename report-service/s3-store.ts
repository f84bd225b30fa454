import {
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  NotFound,
  S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { relayStorage } from "./relay-storage.ts";
import {
  callStorage,
  describeDownload,
  isFileName,
  type S3Options,
  type S3StoreOptions,
  type Storage,
  signedUrlSeconds,
} from "./storage.ts";

/**
 * Storage behind the S3 API. Needs s3:GetObject and s3:ListBucket: without the latter, S3 returns 403 instead of 404
 * for a file that does not exist.
 */
export function createS3Store(options: S3StoreOptions): Storage {
  const { bucket: Bucket, keyPrefix, endpoint, publicEndpoint = endpoint } = options;
  const client = createS3Client(options);
  const presigner = createS3Client({ ...options, endpoint: publicEndpoint });

  return {
    signDownload: async (reportId) => {
      if (!isFileName(reportId)) return null;
      const Key = `${keyPrefix}${reportId}.pdf`;
      return callStorage(`the file of ${reportId}`, async (abortSignal) => {
        try {
          await client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal });
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
          // If the bucket itself is missing, storage is unavailable.
          await client.send(new HeadBucketCommand({ Bucket }), { abortSignal });
          return null;
        }
        const headers = describeDownload(reportId);
        const download = new GetObjectCommand({
          Bucket,
          Key,
          ResponseContentType: headers["content-type"],
          ResponseContentDisposition: headers["content-disposition"],
          ResponseCacheControl: headers["cache-control"],
        });
        return getSignedUrl(presigner, download, { expiresIn: signedUrlSeconds });
      });
    },
    check: async () => {
      await callStorage(`the bucket ${Bucket}`, (abortSignal) =>
        client.send(new HeadBucketCommand({ Bucket }), { abortSignal }),
      );
    },
    addRoutes: (app, onRequest) => relayStorage(app, options, onRequest),
    close: () => {
      client.destroy();
      presigner.destroy();
    },
  };
}

export function createS3Client({
  region,
  endpoint,
  forcePathStyle = false,
  credentials,
}: S3Options): S3Client {
  return new S3Client({
    forcePathStyle,
    ...(region && { region }),
    ...(endpoint && { endpoint }),
    ...(credentials && { credentials }),
    // One retry. Both attempts fit into the deadline.
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: 1300,
      throwOnRequestTimeout: true,
      // Each request that hangs holds a connection for 3 s. With the default of 50, none might be left for others.
      httpAgent: { maxSockets: 1000 },
      httpsAgent: { maxSockets: 1000 },
    },
    // Many S3-compatible servers do not support the checksums that the SDK sends by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}
