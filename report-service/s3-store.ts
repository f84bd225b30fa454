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
  askStorage,
  describeDownload,
  isReportId,
  lifeSeconds,
  type S3Options,
  type S3StoreOptions,
  type Storage,
} from "./storage.ts";

/**
 * Storage behind the S3 API. Needs s3:GetObject and s3:ListBucket: without the latter, S3 answers 403 instead of 404 for a
 * file that does not exist.
 */
export function createS3Store(options: S3StoreOptions): Storage {
  const { bucket: Bucket, keyPrefix, endpoint, publicEndpoint = endpoint } = options;
  const client = createS3Client(options);
  const presigner = createS3Client({ ...options, endpoint: publicEndpoint });

  return {
    signDownload: async (reportId) => {
      if (!isReportId(reportId)) return null;
      const Key = `${keyPrefix}${reportId}.pdf`;
      return askStorage(`the file of ${reportId}`, async (abortSignal) => {
        try {
          await client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal });
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
          // If the bucket itself is missing, storage is out.
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
        return getSignedUrl(presigner, download, { expiresIn: lifeSeconds });
      });
    },
    check: async () => {
      await askStorage(`the bucket ${Bucket}`, (abortSignal) =>
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
      // Requests that hang hold a connection each, for 3 s. The default of 50 would leave none for others.
      httpAgent: { maxSockets: 1000 },
      httpsAgent: { maxSockets: 1000 },
    },
    // Many servers that speak the S3 API do not know the checksums that are on by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}
