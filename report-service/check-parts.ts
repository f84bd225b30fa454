import type { FastifyBaseLogger } from "fastify";

/**
 * Makes a check of all that is needed to redeem a token: by part, "ok" or "unavailable". However many ask, there is
 * one look at a time.
 */
export function makePartsCheck(
  checks: Record<string, () => Promise<void>>,
  logger: FastifyBaseLogger,
): () => Promise<Record<string, string>> {
  let running: Promise<Record<string, string>> | undefined;
  const look = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(checks).map(async ([name, check]) => {
          try {
            await check();
            return [name, "ok"];
          } catch (err) {
            logger.warn({ err }, `not ready: ${name}`);
            return [name, "unavailable"];
          }
        }),
      ),
    );
  return () => {
    running ??= look().finally(() => {
      running = undefined;
    });
    return running;
  };
}
