/** A store or a queue did not do what was asked of it, and may do so seconds later. */
export class OutOfReach extends Error {
  override readonly name = 'OutOfReach';
}

/** AWS counts these as the caller's fault, although they pass by themselves. */
const passing = /Throttl|Throughput|RequestLimit|TransactionConflict|TransactionInProgress/;

interface ErrorOfClient {
  readonly $metadata: unknown;
  /** Is absent where no answer came. */
  readonly $fault?: 'client' | 'server';
  /** Each action of a cancelled transaction has its reason. */
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

/**
 * Returns whether a store, a queue or the way to it failed, so that the same may succeed later. Damaged data, a missing
 * right and a wrong request are no such errors.
 */
export function isOutOfReach(error: unknown): boolean {
  if (error instanceof OutOfReach) return true;
  // All that leaves a client of the SDK has this, also a time-out.
  if (!(error instanceof Error && '$metadata' in error)) return false;
  const { $fault, CancellationReasons: reasons = [] } = error as Error & ErrorOfClient;
  return (
    $fault !== 'client' || [error.name, ...reasons.map(({ Code = '' }) => Code)].some((name) => passing.test(name))
  );
}
