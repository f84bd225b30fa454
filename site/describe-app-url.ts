/** What ends TLS for the API does so for this app: its scheme is the API's. The host is the one that was asked for. */
export function describeAppUrl(apiUrl: string, host: string | undefined): string {
  const isSane = host !== undefined && /^([\w.-]+|\[[0-9a-f:.]+\])(:\d+)?$/i.test(host);
  return `${new URL(apiUrl).protocol}//${isSane ? host : "localhost"}`;
}
