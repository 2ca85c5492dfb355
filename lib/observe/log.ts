/**
 * Structured logs: one JSON line with a stable event name and facts from a closed list of keys. The list is the guard of
 * R44: what is not on it (phone numbers, tokens, passwords, parameter values) cannot be logged by accident.
 */
export interface LogFacts {
  readonly route?: string | undefined;
  readonly requestId?: string | undefined;
  readonly clientId?: number | undefined;
  readonly wabaId?: string | undefined;
  readonly jobId?: string | undefined;
  readonly dispatchId?: string | undefined;
  readonly syncId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly eventType?: string | undefined;
  readonly fence?: number | undefined;
  readonly code?: string | undefined;
  readonly platformCode?: number | undefined;
  readonly error?: string | undefined;
  readonly count?: number | undefined;
  readonly attempt?: number | undefined;
  readonly outcome?: string | undefined;
  readonly durationMs?: number | undefined;
}

const loggedKeys = new Set<string>([
  'route',
  'requestId',
  'clientId',
  'wabaId',
  'jobId',
  'dispatchId',
  'syncId',
  'eventId',
  'eventType',
  'fence',
  'code',
  'platformCode',
  'error',
  'count',
  'attempt',
  'outcome',
  'durationMs',
] satisfies (keyof LogFacts)[]);

/** Writes one line to standard output. `event` is a stable dotted name such as `dispatch.unknown`. */
export function log(event: string, facts: LogFacts = {}): void {
  const line: Record<string, unknown> = { event, at: new Date().toISOString() };
  for (const [key, value] of Object.entries(facts)) {
    if (loggedKeys.has(key) && value !== undefined) line[key] = value;
  }
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
