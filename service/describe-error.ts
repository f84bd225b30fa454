/** An error for people. A refused connection on several addresses has its reasons inside. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describeError).join("; ");
  return error instanceof Error ? error.message : String(error);
}
