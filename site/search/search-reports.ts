import type { Pool, PoolClient } from "pg";
import { z } from "zod";
import { ErrorWithResponse, makeError } from "../../shared/web/error-responses.ts";
import { limitClients } from "../../shared/web/limit-clients.ts";
import type { Reading } from "./read-search.ts";

/** The most searches of a client IP in a minute. Each process counts separately. */
export const searchesAMinute = 60;
/** The most searches at a time: fewer than the connections of each process, so that pages and tokens always find one. */
const searchesAtATime = 3;
const timeoutMilliseconds = 2000;
/** The most rows on a page. */
export const pageRows = 100;
/** A larger total means "more than this". */
export const largestTotal = 1000;

const found = z.object({
  /** The number of audits that match each reading. */
  totals: z.array(z.number()),
  /** The reading that `rows` match: the first that has matches. */
  chosen: z.number().nullable(),
  rows: z.array(
    z.object({
      report_id: z.string(),
      auditee_name: z.string().nullable(),
      auditee_city: z.string().nullable(),
      auditee_state: z.string().nullable(),
      audit_year: z.string().nullable(),
      fy_end_date: z.string().nullable(),
      auditor_firm_name: z.string().nullable(),
      total_amount_expended: z.number().nullable(),
      /** Of the agency or program that the reading names. */
      amount_expended: z.number().nullable(),
    }),
  ),
});
/** The result of publication.search_reports(). */
export type Found = z.infer<typeof found>;

/** Why there is no result, with its response. */
export class SearchRefused extends ErrorWithResponse {
  override name = "SearchRefused";
}

export type Search = (address: string, readings: Reading[], page: number) => Promise<Found>;

/**
 * Creates a function that searches the public audits for a client. It throws SearchRefused if the client or all clients
 * together search too often, or if the search takes longer than 2 seconds.
 */
export function createSearch(pool: Pool): Search {
  const limit = limitClients(searchesAMinute, 60);
  let running = 0;
  return async (address, readings, page) => {
    const seconds = await limit(address);
    if (seconds !== undefined) throw refuseOften(seconds);
    if (running >= searchesAtATime) throw refuseBusy();
    running += 1;
    try {
      const criteria = JSON.stringify(readings.map((reading) => reading.criteria));
      return found.parse(await ask(pool, criteria, (page - 1) * pageRows));
    } finally {
      running -= 1;
    }
  };
}

async function ask(pool: Pool, criteria: string, skipped: number): Promise<unknown> {
  let client: PoolClient | undefined;
  try {
    client = await pool.connect();
    await client.query(`begin read only; set local statement_timeout = ${timeoutMilliseconds}`);
    const { rows } = await client.query<{ found: unknown }>(
      "select publication.search_reports($1, $2) as found",
      [criteria, skipped],
    );
    await client.query("commit");
    client.release();
    return rows[0]?.found;
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
      message: `This client IP searched more than ${searchesAMinute} times in a minute.`,
      hint: "Wait a minute, then search again. Programs should use the API.",
    },
    seconds,
  );
const refuseBusy = () =>
  refuse([503, "too_many_searches"], {
    message: "Too many searches are running.",
    hint: "Try again in a few seconds.",
  });
const refuseSlow = () =>
  refuse([503, "search_timeout"], {
    message: `The search took longer than ${timeoutMilliseconds / 1000} seconds.`,
    hint: "Search for more or longer words, or add a state or a year.",
  });
const refuseFailed = (cause: unknown) =>
  Object.assign(
    refuse([503, "temporarily_unavailable"], {
      message: "The search failed, because the database did not answer.",
      hint: "Try again in a few seconds.",
    }),
    { cause },
  );
