import { CommandError } from './command.ts';

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a span of time as operators type it: `30m`, `4h`, `2d`. Undefined for other text. */
export function timeSpanMs(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  return ms === undefined ? undefined : Number(count) * ms;
}

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads the moment of `--since` or `--until`: a span before now (`1h`, `2d`), a time with its zone, or a day (UTC).
 * Throws `CommandError` for other text.
 */
export function momentMs(text: string, option: string, nowMs: number): number {
  const spanMs = timeSpanMs(text);
  if (spanMs !== undefined) return nowMs - spanMs;
  const isWritten = isoTime.test(text) || /^\d{4}-\d{2}-\d{2}$/.test(text);
  const ms = isWritten && isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new CommandError(`${option} takes 30m, 1h or 2d, or a time such as 2026-10-01T12:00:00Z, not ${text}`);
}

export interface Period {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Reads both options; without `--until` the period ends now. Throws `CommandError`. */
export function periodOf(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  nowMs: number,
): Period {
  if (since === undefined) throw new CommandError('--since is missing');
  const sinceMs = momentMs(since, '--since', nowMs);
  const untilMs = until === undefined ? nowMs : momentMs(until, '--until', nowMs);
  if (untilMs < sinceMs) throw new CommandError('--until is before --since');
  return { sinceMs, untilMs };
}

/** `Date` parses 30 February as 2 March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}
