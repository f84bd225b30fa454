import {
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  NotFound,
  S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { askStorage, describeDownload, isReportId, type Storage } from "./storage.ts";

/** Where an S3 API is, and how to use it. */
export interface S3Options {
  region?: string;
  /** AWS if absent. */
  endpoint?: string | undefined;
  /** Puts the bucket's name into the path and not into the host. */
  forcePathStyle?: boolean;
  /** The AWS standard chain if absent: environment, profile, container, instance. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
}

export interface S3StoreOptions extends S3Options {
  bucket: string;
  /** A file's key is this and `<report_id>.pdf`. */
  keyPrefix: string;
  /** Where clients reach the same API, if elsewhere: signed addresses name this host. */
  publicEndpoint?: string | undefined;
}

/**
 * Storage behind the S3 API. Needs s3:GetObject and s3:ListBucket: without the latter, S3 answers 403 instead of 404 for a
 * file that does not exist.
 */
export function createS3Store(options: S3StoreOptions): Storage {
  const { bucket: Bucket, keyPrefix, endpoint, publicEndpoint = endpoint } = options;
  const client = createS3Client(options);
  const presigner = createS3Client({ ...options, endpoint: publicEndpoint });

  return {
    signDownload: async (reportId, expiresIn) => {
      if (!isReportId(reportId)) return null;
      const Key = `${keyPrefix}${reportId}.pdf`;
      return askStorage(`is there a file for ${reportId}`, async (abortSignal) => {
        try {
          await client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal });
        } catch (error) {
          if (error instanceof NotFound) return null;
          throw error;
        }
        const download = new GetObjectCommand({
          Bucket,
          Key,
          ResponseContentType: "application/pdf",
          ResponseContentDisposition: describeDownload(reportId),
          ResponseCacheControl: "private, no-store",
        });
        return getSignedUrl(presigner, download, { expiresIn });
      });
    },
    check: async () => {
      await askStorage(`is there a bucket named ${Bucket}`, (abortSignal) =>
        client.send(new HeadBucketCommand({ Bucket }), { abortSignal }),
      );
    },
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
