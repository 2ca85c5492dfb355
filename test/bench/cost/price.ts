import prices from '../../../infra/operate/list-prices.json' with { type: 'json' };

/** What AWS bills, by the names of the price list. */
export type Billed = keyof typeof prices.prices;

/** What something took. What is not named, it took nothing of. */
export type Counts = Readonly<Partial<Record<Billed, number>>>;

export const billedNames = Object.keys(prices.prices) as Billed[];

/** Memory at which Lambda gives a whole processor; below, its share is by memory. */
const memoryOfProcessorMb = 1_769;

/**
 * Lambda time of a function's runs, billed by wall time. Waiting costs by memory; computing costs the same at any
 * memory. Both count as if they never overlap: an upper bound.
 */
export function lambdaTime(run: Readonly<Record<'memoryMb' | 'waitedMs' | 'processorMs', number>>): Counts {
  return {
    waitedGbSeconds: (run.waitedMs * run.memoryMb) / 1_024 / 1_000,
    computedGbSeconds: (run.processorMs * memoryOfProcessorMb) / 1_024 / 1_000,
  };
}

/**
 * The same of a function that computes while it waits, as the worker does, which has many calls under way: the larger of the two
 * times counts.
 */
export function overlappingLambdaTime(run: Parameters<typeof lambdaTime>[0]): Counts {
  const computedMs = (run.processorMs * memoryOfProcessorMb) / run.memoryMb;
  return computedMs > run.waitedMs ? lambdaTime({ ...run, waitedMs: 0 }) : lambdaTime({ ...run, processorMs: 0 });
}

/** The sum of several parts. */
export function together(...parts: readonly Counts[]): Counts {
  const sum = (name: Billed) => parts.reduce((total, counts) => total + (counts[name] ?? 0), 0);
  return Object.fromEntries(billedNames.map((name) => [name, sum(name)]));
}

/** The same, so many times. */
export function times(counts: Counts, factor: number): Counts {
  return Object.fromEntries(billedNames.map((name) => [name, (counts[name] ?? 0) * factor]));
}

/** What each of the counts costs, in dollars. */
export function dollarsOf(counts: Counts): Readonly<Record<Billed, number>> {
  const dollars = (name: Billed) => ((counts[name] ?? 0) * prices.prices[name].dollars) / prices.prices[name].per;
  return Object.fromEntries(billedNames.map((name) => [name, dollars(name)])) as Record<Billed, number>;
}

export function totalDollars(counts: Counts): number {
  return Object.values(dollarsOf(counts)).reduce((sum, each) => sum + each, 0);
}
