/** A response from the API. */
export interface Answer {
  /** 0 if there was no response. */
  status: number;
  /** The headers that the gateway exposes to other origins, with lowercase names. */
  headers: Record<string, string>;
  text: string;
  receivedAt: number;
}

/** Sends a request to the API. If there is no response, returns an error in the format of the API's errors. */
export async function ask(
  url: string,
  { key, headers, ...options }: RequestInit & { key: string },
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      ...options,
      headers: { ...headers, "x-api-key": key },
      cache: "no-store",
      credentials: "omit",
      referrerPolicy: "no-referrer",
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await response.text(),
      receivedAt: Date.now(),
    };
  } catch {
    const message = `The API at ${new URL(url).origin} did not answer. Check your network connection, then try again.`;
    return { status: 0, headers: {}, text: JSON.stringify({ message }), receivedAt: Date.now() };
  }
}

export function isGood({ status }: Answer): boolean {
  return status === 200 || status === 206;
}

/** "27 requests of 30 left until 3:00 PM CST", in the visitor's time zone; empty if the response does not say. */
export function describeLimit({ headers, receivedAt }: Answer): string {
  const [limit, left, reset] = ["limit", "remaining", "reset"].map((name) => headers[`ratelimit-${name}`]);
  if (limit === undefined || left === undefined) return "";
  const seconds = Number(headers["retry-after"] ?? reset);
  const until = new Date(receivedAt + seconds * 1000).toLocaleString([], {
    weekday: seconds > 43_200 ? "long" : undefined,
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  });
  return `${formatCount(Number(left), "request")} of ${Number(limit).toLocaleString("en-US")} left until ${until}`;
}

/** "1 row", "20,500 rows". */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}
