/**
 * Does all of it, in order, so much at once. Where one fails, no other begins, and it throws when those under way have ended:
 * a run that gives up leaves nothing behind that goes on.
 */
export async function sideBySide<T>(
  all: Iterable<T>,
  atOnce: number,
  act: (one: T) => Promise<unknown>,
): Promise<void> {
  // Unlike the iterator of an array, a generator ends for all who share it when one of them leaves its loop.
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
