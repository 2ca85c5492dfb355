/** Each figure is printed with its limit as one JSON line. Times are only ratios within one run. */
export interface Figure {
  readonly figure: string;
  readonly value: number;
  readonly limit?: number;
  readonly unit: string;
}

let failures = 0;

/** Prints a figure, and remembers when it is above its limit. A figure without a limit is for information. */
export function report({ figure, value, limit, unit }: Figure): void {
  const rounded = Math.round(value * 1000) / 1000;
  const ok = limit === undefined || value <= limit;
  if (!ok) failures += 1;
  console.log(JSON.stringify({ figure, value: rounded, unit, ...(limit === undefined ? {} : { limit, ok }) }));
}

export function figuresAboveTheirLimit(): number {
  return failures;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
