/** The deployment to check, as clients reach it. */
export interface Deployment {
  baseUrl: string;
  appUrl?: string;
  key: string;
  tribalKey?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each check says what it expects.
  json: any;
}

/** Why a check was skipped. */
export interface SkippedCheck {
  notTried: string;
}

/** A check's name, and a function that resolves to undefined if the check passes, or else to what it found. */
export type Check = [string, () => Promise<string | undefined | SkippedCheck>];

const timeoutMilliseconds = 5_000;

/** Sends a request to a path of the API or to a full URL. Does not follow redirects. */
export async function ask(
  { baseUrl }: Deployment,
  target: string,
  key: string | undefined,
  init: RequestInit = {},
): Promise<Answer> {
  const response = await fetch(new URL(target, baseUrl), {
    ...init,
    redirect: "manual",
    headers: { ...(key === undefined ? {} : { "x-api-key": key }), ...init.headers },
    signal: AbortSignal.timeout(timeoutMilliseconds),
  });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {}
  return { status: response.status, headers: response.headers, text, json };
}

/** Describes the status if it is not the expected one. */
export const expectStatus = ({ status, text }: Answer, wanted: number) =>
  status === wanted ? undefined : `${status} instead of ${wanted}: ${text.slice(0, 120)}`;
