import type { FastifyInstance, onRequestHookHandler } from "fastify";

/** Where the PDFs are. */
export interface Storage {
  /**
   * Signs an address from which anyone can download a report's PDF for a short time. Returns null if there is no such file.
   * The address is a path if this service serves the files itself.
   *
   * @throws StorageUnavailable after 3 seconds at most
   */
  signDownload(reportId: string): Promise<string | null>;
  /** @throws StorageUnavailable after 3 seconds at most, if storage is unreachable or refuses this service */
  check(): Promise<void>;
  /** Adds the routes by which clients reach the files through this service, if they do. */
  addRoutes(app: FastifyInstance, onRequest: onRequestHookHandler[]): void;
  /** Closes its connections. */
  close(): void;
}

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

/** Storage did not say whether a file exists. The reason is the cause. */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
}

/** Life of a signed address: ten seconds less than the API's contract allows, because clocks differ. */
export const lifeSeconds = 50;

const deadlineMilliseconds = 3000;
const pattern = /^[0-9]{4}-[0-9]{2}-(GSAFAC|CENSUS)-[0-9]{10}$/;

/** Whether a text has the form of a report ID, such as 2023-06-GSAFAC-0000000001. */
export function isReportId(text: string): boolean {
  return pattern.test(text);
}

/** The headers of a report's PDF. */
export const describeDownload = (reportId: string) => ({
  "content-type": "application/pdf",
  "content-disposition": `attachment; filename="${reportId}.pdf"`,
  "cache-control": "private, no-store",
});

/**
 * Asks storage something, for 3 seconds at most.
 *
 * @throws StorageUnavailable instead of any error
 */
export async function askStorage<Result>(
  subject: string,
  ask: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const signal = AbortSignal.timeout(deadlineMilliseconds);
  // A race, because some waits, such as the AWS SDK's search for credentials, ignore the signal.
  const deadline = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  try {
    return await Promise.race([ask(signal), deadline]);
  } catch (cause) {
    throw new StorageUnavailable(`Storage gave no usable answer about ${subject}.`, { cause });
  }
}
