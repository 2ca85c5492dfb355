/** What may be logged of anything thrown: an error's name, never its message, which may quote a client's data. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
