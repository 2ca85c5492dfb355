import prices from '../../../infra/operate/list-prices.json' with { type: 'json' };

export type Billed = keyof typeof prices.prices;

/** A name that is missing counts as 0. */
export type Counts = Readonly<Partial<Record<Billed, number>>>;

export const billedNames = Object.keys(prices.prices) as Billed[];

/** Lambda gives a whole processor at this memory, and below it a share by memory. */
export const memoryOfProcessorMb = 1_769;

/**
 * Lambda bills wall time. Waiting costs by memory; computing costs the same at any memory. Both count as if they never
 * overlap: an upper bound.
 */
export function lambdaTime(run: Readonly<Record<'memoryMb' | 'waitedMs' | 'processorMs', number>>): Counts {
  return {
    waitedGbSeconds: (run.waitedMs * run.memoryMb) / 1_024 / 1_000,
    computedGbSeconds: (run.processorMs * memoryOfProcessorMb) / 1_024 / 1_000,
  };
}

/**
 * Returns the time of a function that computes while it waits, as the worker does with its many calls in flight: only
 * the larger of the two times counts.
 */
export function overlappingLambdaTime(run: Parameters<typeof lambdaTime>[0]): Counts {
  const computedMs = (run.processorMs * memoryOfProcessorMb) / run.memoryMb;
  return computedMs > run.waitedMs ? lambdaTime({ ...run, waitedMs: 0 }) : lambdaTime({ ...run, processorMs: 0 });
}

export function together(...parts: readonly Counts[]): Counts {
  const sum = (name: Billed) => parts.reduce((total, counts) => total + (counts[name] ?? 0), 0);
  return Object.fromEntries(billedNames.map((name) => [name, sum(name)]));
}

export function times(counts: Counts, factor: number): Counts {
  return Object.fromEntries(billedNames.map((name) => [name, (counts[name] ?? 0) * factor]));
}

export function dollarsOf(counts: Counts): Readonly<Record<Billed, number>> {
  const dollars = (name: Billed) => ((counts[name] ?? 0) * prices.prices[name].dollars) / prices.prices[name].per;
  return Object.fromEntries(billedNames.map((name) => [name, dollars(name)])) as Record<Billed, number>;
}

export function totalDollars(counts: Counts): number {
  return Object.values(dollarsOf(counts)).reduce((sum, each) => sum + each, 0);
}
