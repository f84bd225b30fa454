import type { FastifyReply, FastifyRequest } from "fastify";
import { groupAddress } from "../shared/group-address.ts";
import { makeError, sendError } from "./error-responses.ts";

/** Most downloads at a time, in each process. Programs that read a file in parts use up to 8 connections. */
export const downloadsPerAddress = 16;
export const downloadsInAll = 256;

const refuse = (status: number, details: string) => {
  const message = "Too many downloads are in progress.";
  const hint = "Wait until a download has finished, then try again.";
  return makeError(status, "too_many_downloads", { message, details, hint }, { "retry-after": "10" });
};
const busyAddress = refuse(429, `Each client IP can run ${downloadsPerAddress} downloads at a time.`);
const busy = refuse(503, `All clients together can run ${downloadsInAll} downloads at a time.`);

/** Makes a hook that refuses a download if its client IP, or all clients together, have too many in progress. */
export function limitDownloads(): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  const running = new Map<string, number>();
  let total = 0;
  return async (request, reply) => {
    const address = groupAddress(request.ip);
    const count = running.get(address) ?? 0;
    if (count >= downloadsPerAddress) return sendError(reply, busyAddress);
    if (total >= downloadsInAll) return sendError(reply, busy);
    running.set(address, count + 1);
    total += 1;
    reply.raw.once("close", () => {
      const left = (running.get(address) ?? 0) - 1;
      if (left > 0) running.set(address, left);
      else running.delete(address);
      total -= 1;
    });
    return undefined;
  };
}
