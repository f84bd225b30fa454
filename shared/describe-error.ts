/** Returns an error's message. If a host has several addresses, a failed connection has one error for each. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeError).join("; ");
  return error instanceof Error ? error.message : String(error);
}
