import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { ClientConfig, Pool } from "pg";
import { createPool, queryDatabase } from "../shared/web/database.ts";

/** The path at which the gateway says which keys are used (gateway/plugins/single-audit/key_use.lua). */
export const keyUsePath = "/used-keys";
const sha256 = /^[0-9a-f]{64}$/;

/**
 * Records that keys were used today. It has a connection of its own, so that tokens never wait for it. A message that
 * cannot be recorded is dropped: a later request repeats it.
 */
export function recordKeyUse(database: ClientConfig, logger: FastifyBaseLogger) {
  const pool: Pool = createPool(database, logger, "report-service", 1);
  let isFailing = false;
  const noteFailure = (err?: unknown) => {
    if (err !== undefined && !isFailing) logger.warn({ err }, "cannot record key use");
    if (err === undefined && isFailing) logger.info("recording key use again");
    isFailing = err !== undefined;
  };
  return {
    /** Adds the call. Its body is the SHA-256 of each key, in lines. Other lines are ignored. */
    addCall: (app: FastifyInstance) =>
      app.post(keyUsePath, async (request, reply) => {
        const hashes = String(request.body)
          .split("\n")
          .filter((line) => sha256.test(line));
        const keys = hashes.map((hash) => Buffer.from(hash, "hex"));
        const query = queryDatabase(pool, "select access.record_key_use($1)", [keys]);
        const result = await query.catch(noteFailure);
        if (result !== undefined) noteFailure();
        return reply.code(result === undefined ? 503 : 200).send({});
      }),
    close: () => pool.end(),
  };
}
