/** What the API answered. */
export interface Answer {
  status: number;
  /** Those that the gateway lets other origins read, in lower case. */
  headers: Record<string, string>;
  text: string;
  milliseconds: number;
}

/**
 * Asks the API as any client in a browser does.
 *
 * @throws Error in words for people, when there is no answer at all
 */
export async function sendRequest(
  url: string,
  headers: Record<string, string>,
  key: string,
): Promise<Answer> {
  const start = performance.now();
  try {
    const response = await fetch(url, {
      headers: { ...headers, "x-api-key": key },
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      milliseconds: performance.now() - start,
    };
  } catch (cause) {
    const { origin } = new URL(url);
    throw new Error(
      `The API at ${origin} did not answer. It may be away, or this network may not reach it.`,
      {
        cause,
      },
    );
  }
}

export interface ApiError {
  message: string;
  details?: string | null;
  hint?: string | null;
}

/** The error that an answer's body tells, in the form that PostgREST and the gateway share. */
export function readError({ status, text }: Answer): ApiError {
  try {
    const body: Partial<ApiError> = JSON.parse(text);
    if (typeof body.message === "string") return { ...body, message: body.message };
  } catch {
    // Not JSON: what stands in between has answered.
  }
  return { message: `The answer was ${status}, without an explanation.` };
}

/** When a client that is over its limit may come back, in words; undefined where the answer does not say. */
export function describeRetry({ headers }: Answer, now = new Date()): string | undefined {
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  if (!Number.isFinite(seconds)) return undefined;
  const hours = Math.ceil(seconds / 3600);
  const at = new Date(now.getTime() + seconds * 1000).toLocaleTimeString([], { timeStyle: "short" });
  const minutes = Math.ceil(seconds / 60);
  if (seconds < 90) return `Come back in ${seconds} seconds.`;
  return minutes < 90
    ? `Come back in ${minutes} minutes, at ${at}.`
    : `Come back in ${hours} hours, at ${at}.`;
}
