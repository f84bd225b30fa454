import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import { groupAddress } from "./group-address.ts";

/**
 * Makes a function that counts a request of a client IP, in this process. If the client has sent more than `most` in a period
 * of this many seconds, it resolves to the number of seconds to wait.
 */
export function limitClients(
  most: number,
  seconds: number,
): (address: string) => Promise<number | undefined> {
  const limiter = new RateLimiterMemory({ points: most, duration: seconds });
  return async (address) => {
    const use = await limiter.consume(groupAddress(address)).catch((refusal: RateLimiterRes) => refusal);
    return use.consumedPoints > most ? Math.max(1, Math.ceil(use.msBeforeNext / 1000)) : undefined;
  };
}
