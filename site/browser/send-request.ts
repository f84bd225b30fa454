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
 * @throws Error in words for people, when there is no answer at all; AbortError when `signal` says so
 */
export async function sendRequest(
  url: string,
  {
    method = "GET",
    headers = {},
    key,
    body,
    signal,
  }: {
    method?: "GET" | "HEAD" | "POST";
    headers?: Record<string, string>;
    key: string;
    body?: string;
    signal?: AbortSignal;
  },
): Promise<Answer> {
  const start = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers: { ...headers, "x-api-key": key },
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      milliseconds: performance.now() - start,
    };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    const { origin } = new URL(url);
    throw new Error(
      `The API at ${origin} did not answer. It may be away, or this network may not reach it.`,
      { cause },
    );
  }
}

export interface ApiError {
  code?: string;
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

export function isGood({ status }: Answer): boolean {
  return status === 200 || status === 206;
}
