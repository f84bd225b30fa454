import type { Pool, PoolClient } from "pg";
import { ErrorWithResponse, makeError } from "../../shared/web/error-responses.ts";
import { limitClients } from "../../shared/web/limit-clients.ts";

/** How many searches and reports a client IP may open in a minute. Each process counts separately. */
export const searchesAMinute = 60;
/** How many may run at a time: fewer than the connections of each process, so that pages and tokens always find one. */
const searchesAtATime = 3;
const timeoutMilliseconds = 2000;

/** A query that was refused or failed, with the response to send. */
export class SearchRefused extends ErrorWithResponse {
  override name = "SearchRefused";
}

/** Runs a statement for a client IP, and returns its row. */
export type LimitedQuery = <Row extends object>(
  address: string,
  statement: string,
  values: unknown[],
) => Promise<Row>;

/**
 * Creates a function that runs a visitor's queries. It throws SearchRefused if the client or all clients together send too
 * many, or if a query takes longer than 2 seconds.
 */
export function limitQueries(pool: Pool): LimitedQuery {
  const limit = limitClients(searchesAMinute, 60);
  let running = 0;
  return async (address, statement, values) => {
    const seconds = await limit(address);
    if (seconds !== undefined) throw refuseOften(seconds);
    if (running >= searchesAtATime) throw refuseBusy();
    running += 1;
    try {
      return await ask(pool, statement, values);
    } finally {
      running -= 1;
    }
  };
}

async function ask<Row extends object>(pool: Pool, statement: string, values: unknown[]): Promise<Row> {
  let client: PoolClient | undefined;
  try {
    client = await pool.connect();
    await client.query(`begin read only; set local statement_timeout = ${timeoutMilliseconds}`);
    const { rows } = await client.query<Row>(statement, values);
    await client.query("commit");
    client.release();
    return rows[0] as Row;
  } catch (error) {
    // A connection whose transaction failed is closed.
    client?.release(true);
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
      message: `This client IP searched or opened reports more than ${searchesAMinute} times in a minute.`,
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
    message: `The search or report took longer than ${timeoutMilliseconds / 1000} seconds.`,
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
