/** Where the PDFs are kept. Every method answers or throws StorageUnavailable within 3 seconds. */
export interface Storage {
  /**
   * Makes an address from which anyone can download a report's PDF for a short time.
   *
   * @returns null if there is no such file
   * @throws StorageUnavailable if storage cannot tell
   */
  signDownload(reportId: string, options: { expiresInSeconds: number }): Promise<string | null>;
  /** @throws StorageUnavailable if storage cannot be reached or refuses this service */
  check(): Promise<void>;
  /** Lets go of open connections. */
  close(): void;
}

/** Storage did not say whether a file exists. The reason is the cause. */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
}

/** Longest life of a signed address, by the API's contract. */
export const longestLifeSeconds = 60;

const deadlineMilliseconds = 3000;

/**
 * Asks storage something, for 3 seconds at most.
 *
 * @throws StorageUnavailable in place of any error
 */
export async function askStorage<Result>(
  question: string,
  ask: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  // A race, since not everything that is waited for (the look-up of credentials, say) obeys the signal.
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`No answer within ${deadlineMilliseconds} ms.`);
      controller.abort(error);
      reject(error);
    }, deadlineMilliseconds);
  });
  try {
    return await Promise.race([ask(controller.signal), deadline]);
  } catch (cause) {
    throw new StorageUnavailable(`Storage did not answer: ${question}.`, { cause });
  } finally {
    clearTimeout(timer);
  }
}
