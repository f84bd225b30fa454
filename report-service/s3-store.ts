import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createS3Client, openBucket } from "../shared/objects/bucket.ts";
import { callStorage, hastyLimits } from "../shared/web/call-storage.ts";
import { relayStorage } from "./relay-storage.ts";
import {
  describeDownload,
  isFileName,
  nameReportFile,
  type S3StoreOptions,
  type Storage,
  signedUrlSeconds,
} from "./storage.ts";

/** Storage behind the S3 API. */
export function createS3Store(options: S3StoreOptions): Storage {
  const { bucket: Bucket, keyPrefix, endpoint, publicEndpoint = endpoint } = options;
  const limited = { ...options, limits: hastyLimits };
  const objects = openBucket(`s3://${Bucket}`, limited);
  const presigner = createS3Client({ ...limited, endpoint: publicEndpoint }, `s3://${Bucket}`);

  return {
    signDownload: async (reportId) => {
      if (!isFileName(reportId)) return null;
      const file = nameReportFile(reportId);
      const Key = keyPrefix + file;
      return callStorage(`the file of ${reportId}`, async (signal) => {
        if (!(await objects.has(Key, signal))) return null;
        const headers = describeDownload(file);
        const download = new GetObjectCommand({
          Bucket,
          Key,
          ResponseContentType: headers["content-type"],
          ResponseContentDisposition: headers["content-disposition"],
          ResponseCacheControl: headers["cache-control"],
        });
        // Storage decides when the URL expires, and not all storage refuses one that was signed in its future.
        return getSignedUrl(presigner, download, {
          signingDate: objects.time(),
          expiresIn: signedUrlSeconds,
        });
      });
    },
    check: () => callStorage(`the bucket ${Bucket}`, objects.check),
    addRoutes: (app, onRequest) => relayStorage(app, options, onRequest),
    close: () => {
      objects.close();
      presigner.destroy();
    },
  };
}
