import {
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  NotFound,
  S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { describeDownload, isReportId } from "./report-id.ts";
import { askStorage, type Storage } from "./storage.ts";

export interface S3StoreOptions {
  bucket: string;
  region: string;
  /** A file's key is this and `<report_id>.pdf`. */
  keyPrefix: string;
  /** Where the API is, if not at AWS. */
  endpoint?: string | undefined;
  /** Where clients reach the same API, if elsewhere: signed addresses name this host. */
  publicEndpoint?: string | undefined;
  /** Puts the bucket's name in the path and not in the host. */
  forcePathStyle: boolean;
  /** By default the AWS standard chain: environment, profile, container, instance. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
}

/**
 * Storage behind the S3 API. Needs s3:GetObject, and s3:ListBucket: without the latter S3 answers 403 in
 * place of 404 for a file that does not exist.
 */
export function createS3Store(options: S3StoreOptions): Storage {
  const { bucket: Bucket, keyPrefix, endpoint } = options;
  const client = createClient(options, endpoint);
  const presigner = createClient(options, options.publicEndpoint ?? endpoint);

  return {
    signDownload: async (reportId, { expiresInSeconds: expiresIn }) => {
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

function createClient({ region, forcePathStyle, credentials }: S3StoreOptions, endpoint?: string): S3Client {
  return new S3Client({
    region,
    forcePathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    // One retry, and each attempt short enough that both fit into the deadline.
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout: 1300,
      throwOnRequestTimeout: true,
      // Questions that hang for 3 s hold a connection each; of the default of 50 none would be left for others.
      httpAgent: { maxSockets: 1000 },
      httpsAgent: { maxSockets: 1000 },
    },
    // Checksums by default are newer than many servers that speak the S3 API.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}
