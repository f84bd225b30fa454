const shortestRetryMilliseconds = 250;
const longestRetryMilliseconds = 2_000;

/** Does the work again and again, sooner after a failure; the pauses grow from failure to failure. */
export async function repeat(
  work: () => Promise<void>,
  parts: {
    signal: AbortSignal;
    pauseMilliseconds: number;
    sleep: (milliseconds: number) => Promise<void>;
    onFailure: (error: Error) => void;
  },
): Promise<void> {
  let failures = 0;
  while (!parts.signal.aborted) {
    let pause = parts.pauseMilliseconds;
    try {
      await work();
      failures = 0;
    } catch (error) {
      if (parts.signal.aborted) return;
      pause = Math.min(longestRetryMilliseconds, shortestRetryMilliseconds * 2 ** failures);
      failures += 1;
      parts.onFailure(error as Error);
    }
    await parts.sleep(pause);
  }
}

/** A sleep that ends early when it is woken, and at once when that was before. */
export function createSleeper(): { sleep: (milliseconds: number) => Promise<void>; wake: () => void } {
  let isWoken = false;
  let end: (() => void) | undefined;
  return {
    wake: () => {
      isWoken = true;
      end?.();
    },
    sleep: async (milliseconds) => {
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        end = undefined;
      }
      isWoken = false;
    },
  };
}
