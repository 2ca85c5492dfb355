/** Returns the loggable part of an error: its name, never its message, which may quote client data. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
