/** Where the PDFs are. Every method answers or throws StorageUnavailable within 3 seconds. */
export interface Storage {
  /**
   * Signs an address from which anyone can download a report's PDF for a short time. Returns null if there is no such file.
   *
   * @throws StorageUnavailable
   */
  signDownload(reportId: string, expiresInSeconds: number): Promise<string | null>;
  /** @throws StorageUnavailable if storage is unreachable or refuses this service */
  check(): Promise<void>;
  /** Closes its connections. */
  close(): void;
}

/** Storage did not say whether a file exists. The reason is the cause. */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
}

/** Longest life of a signed address, by the API's contract. */
export const longestLifeSeconds = 60;
/** Ten seconds less than the contract allows, because clocks differ. */
export const lifeSeconds = longestLifeSeconds - 10;

const deadlineMilliseconds = 3000;
const pattern = /^[0-9]{4}-[0-9]{2}-(GSAFAC|CENSUS)-[0-9]{10}$/;

/** Whether a text has the form of a report ID, such as 2023-06-GSAFAC-0000000001. */
export function isReportId(text: string): boolean {
  return pattern.test(text);
}

/** The Content-Disposition of a report's PDF. */
export function describeDownload(reportId: string): string {
  return `attachment; filename="${reportId}.pdf"`;
}

/**
 * Asks storage something, for 3 seconds at most.
 *
 * @throws StorageUnavailable instead of any error
 */
export async function askStorage<Result>(
  question: string,
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
    throw new StorageUnavailable(`Storage did not answer: ${question}.`, { cause });
  }
}
