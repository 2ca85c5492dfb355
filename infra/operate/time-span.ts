const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a span of time as operators type it: `30m`, `4h`, `2d`. Undefined for other text. */
export function timeSpanMs(text: string): number | undefined {
  const [, count, unit = ''] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  const ms = unitMs[unit];
  return ms === undefined ? undefined : Number(count) * ms;
}
