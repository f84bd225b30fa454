import type { FastifyReply, FastifyRequest } from "fastify";
import type { Pool, PoolClient } from "pg";
import { NotServing, readLiveDataSet } from "../../shared/web/database.ts";
import { ErrorWithResponse, makeError } from "../../shared/web/error-responses.ts";
import { limitClients } from "../../shared/web/limit-clients.ts";
import { QueueRefused, queueFairly } from "../../shared/web/queue-fairly.ts";
import type { LiveDataSet } from "../keep-answer.ts";

/** How many searches and reports a client IP may open in a minute. Each process counts separately. */
export const searchesAMinute = 60;
const queue = {
  /** Fewer than the connections of each process, so that pages and tokens always find one. */
  atATime: 3,
  places: 64,
  seconds: 10,
};
/** A search takes less than a second, but longer on a busy machine. */
const timeoutSeconds = 10;
const patience = { query_timeout: 1000 * (timeoutSeconds + 1) };

/** A query that was refused or failed, with the response to send. */
export class SearchRefused extends ErrorWithResponse {
  override name = "SearchRefused";
}

/** The client that a query runs for. */
export interface Visitor {
  /** The client IP. */
  address: string;
  /** Aborts when the client leaves. */
  left: AbortSignal;
}

/** Identifies the client that sent a request. */
export function identifyVisitor({ ip }: FastifyRequest, { raw }: FastifyReply): Visitor {
  const leaving = new AbortController();
  raw.once("close", () => leaving.abort());
  return { address: ip, left: leaving.signal };
}

/** At least one row. */
type Rows<Row> = [Row, ...Row[]];
/** Runs a statement for a visitor, and returns its rows. The statement must return at least one. */
export type LimitedQuery = <Row extends object>(
  visitor: Visitor,
  statement: string,
  values: unknown[],
) => Promise<Rows<Row>>;

/**
 * Creates a function that runs visitors' queries, a few at a time. It throws SearchRefused if the client sends too many, if the
 * queue is full, or if a query waits or runs too long. It throws NotServing while the service is switched off or has no data set.
 *
 * @param live gets the ID of the data set that the rows are from
 */
export function limitQueries(pool: Pool, live: LiveDataSet): LimitedQuery {
  const limit = limitClients(searchesAMinute, 60);
  const run = queueFairly(queue);
  return async <Row extends object>({ address, left }: Visitor, statement: string, values: unknown[]) => {
    const seconds = await limit(address);
    if (seconds !== undefined) throw refuseOften(seconds);
    try {
      return await run(address, left, async () => {
        const { rows, isOfOne } = await ask<Row>(pool, live, statement, values);
        return isOfOne ? rows : (await ask<Row>(pool, live, statement, values)).rows;
      });
    } catch (error) {
      throw error instanceof QueueRefused ? refuseBusy() : error;
    }
  };
}

/** Runs a statement. Returns its rows, and whether they are from one data set, because none was published meanwhile. */
async function ask<Row extends object>(
  pool: Pool,
  live: LiveDataSet,
  statement: string,
  values: unknown[],
): Promise<{ rows: Rows<Row>; isOfOne: boolean }> {
  let client: PoolClient | undefined;
  try {
    client = await pool.connect();
    await client.query(`begin read only; set local statement_timeout = '${timeoutSeconds} s'`);
    // Uses the same connection, because another one may lead to a database that has been replaced.
    const before = await readLiveDataSet(client);
    const { rows } = await client.query<Row>({ text: statement, values, ...patience });
    const after = await readLiveDataSet(client);
    await client.query("commit");
    client.release();
    live.id = after;
    return { rows: rows as Rows<Row>, isOfOne: after === before };
  } catch (error) {
    // A connection whose transaction failed is closed.
    client?.release(true);
    if (error instanceof NotServing) throw error;
    throw (error as { code?: string }).code === "57014" ? refuseSlow() : refuseFailed(error);
  }
}

function refuse(
  [status, code]: [status: number, code: string],
  texts: { message: string; hint: string },
  seconds = 5,
): SearchRefused {
  return new SearchRefused(texts.message, makeError(status, code, texts, { "retry-after": String(seconds) }));
}

const refuseOften = (seconds: number) =>
  refuse(
    [429, "too_many_searches"],
    {
      message: `You, or others at your internet address, searched or opened reports more than ${searchesAMinute} times in a minute.`,
      hint: "Wait a minute, then search again. Programs should use the API.",
    },
    seconds,
  );
const refuseBusy = () =>
  refuse([503, "too_many_searches"], {
    message: "Too many searches and reports were requested at once.",
    hint: "Try again in a few seconds.",
  });
const refuseSlow = () =>
  refuse([503, "search_timeout"], {
    message: `The search or report took longer than ${timeoutSeconds} seconds.`,
    hint: "Try again. In a search, use more or longer words, or add a state or a year.",
  });
const refuseFailed = (cause: unknown) =>
  Object.assign(
    refuse([503, "temporarily_unavailable"], {
      message: "The database did not answer.",
      hint: "Try again in a few seconds.",
    }),
    { cause },
  );
