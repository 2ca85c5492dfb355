/**
 * Runs `act` on all, in order, `atOnce` at a time. After a failure no other begins, and it throws once those under way
 * have ended, so that no work continues in the background.
 */
export async function forEachConcurrently<T>(
  all: Iterable<T>,
  atOnce: number,
  act: (one: T) => Promise<unknown>,
): Promise<void> {
  // A generator, unlike an array's iterator, ends for all loops when one leaves.
  const shared = eachOf(all);
  const ends = await Promise.allSettled(
    Array.from({ length: atOnce }, async () => {
      for (const one of shared) await act(one);
    }),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

function* eachOf<T>(all: Iterable<T>): Generator<T> {
  yield* all;
}
