import type { FastifyInstance, onRequestHookHandler } from "fastify";
import type { S3Options } from "../shared/objects/objects.ts";

/** Where the PDFs are. */
export interface Storage {
  /**
   * Returns a signed URL from which anyone can download a report's PDF for a short time, or null if there is no such
   * file. The URL is a path if this service serves the files itself.
   *
   * @throws StorageUnavailable after 3 seconds at most
   */
  signDownload(reportId: string): Promise<string | null>;
  /** @throws StorageUnavailable after 3 seconds at most, if storage is unreachable or refuses this service */
  check(): Promise<void>;
  /** Adds the routes for downloads through this service, if clients need them. */
  addRoutes(app: FastifyInstance, onRequest: onRequestHookHandler[]): void;
  /** Closes its connections. */
  close(): void;
}

export interface S3StoreOptions extends S3Options {
  bucket: string;
  /** Comes before the name in a file's key. */
  keyPrefix: string;
  /** Where clients reach the same API, if it differs from `endpoint`. Signed URLs name this host. */
  publicEndpoint?: string | undefined;
}

/** Lifetime of a signed URL, by storage's clock: ten seconds less than the API's contract allows. */
export const signedUrlSeconds = 50;

/** The name of a report's PDF in its folder, and in downloads. */
export const nameReportFile = (reportId: string) => `${reportId}.pdf`;

/** Whether a report ID can be part of a file's name. The database decides which reports exist. */
export function isFileName(reportId: string): boolean {
  return /^[A-Za-z0-9-]{1,64}$/.test(reportId);
}

/** The headers of a PDF with this name. */
export const describeDownload = (file: string) => ({
  "content-type": "application/pdf",
  "content-disposition": `attachment; filename="${file}"`,
  "cache-control": "private, no-store",
});
