import { isDeepStrictEqual } from 'node:util';
import { openPlaces, resolvedByOperator } from '../../../../../lib/messages/dispatch/slice.ts';
import type { State } from './slice-explorer.ts';
import { platformEffects } from './slice-world.ts';

const finalEffects = new Set(['accepted', 'held', 'refused', 'lost_before', 'lost_after']);

/** Checks R13, D29, D39 and D53 in every state; R14, D34 and D41 in every state without a working run. */
export function checkPromises(state: State, before: State, sizes: readonly number[]): void {
  for (const [slice, size] of sizes.entries()) {
    for (let place = 0; place < size; place += 1) {
      checkStays(state, before, slice * 10 + place);
      checkRecipient(state, slice * 10 + place);
    }
  }
  if (sizes.length === 1) checkCompleted(state);
}

/** Only a settlement changes an outcome, and it changes only `unknown`. */
function checkStays(state: State, before: State, index: number): void {
  const [known, now] = [outcomeOf(before, index), outcomeOf(state, index)];
  if (known === undefined || known.state === 'again' || isDeepStrictEqual(known, now)) return;
  const isSettled = now !== undefined && now.state !== 'again' && now.resolvedAtMs !== undefined;
  if (known.state !== 'unknown' || !isSettled) {
    throw new Error(`D29: ${index} had ended ${known.state} (${known.code}), and is ${now?.state} now`);
  }
}

function outcomeOf({ store }: State, index: number) {
  return store.slices[String(Math.floor(index / 10))]?.outcomes[index % 10];
}

/** The end of a dispatch of one chunk is an event after the end, never before, and under one id (D41). */
function checkCompleted({ store, queue, workers, inFlight }: State): void {
  const [slice] = Object.values(store.slices);
  const isOver = slice !== undefined && slice.state === 'ended' && openPlaces(slice).length === 0;
  const isTold = store.told.includes('dispatch completed');
  if (isTold && !isOver) throw new Error('D41: the end of the dispatch was told too early');
  const isAtWork = workers.some((worker) => worker !== null) || inFlight.length > 0;
  if (isAtWork || store.withdrawn || queue.some(({ body }) => body.kind === 'chunk')) return;
  if (!isTold) throw new Error('D41: the dispatch has ended, and its client was not told');
}

function checkRecipient(state: State, index: number): void {
  const { store, queue, workers, inFlight, harmed, stalled } = state;
  if (store.wrongs.length > 0) throw new Error(store.wrongs.join('; '));
  const calls = store.calls.filter((call) => call.index === index);
  const final = calls.findIndex(({ effect }) => finalEffects.has(effect));
  if (final !== -1 && final !== calls.length - 1) throw new Error(`R13: ${index} was called again`);
  const wrong = calls.find((call) => call.wrong !== undefined)?.wrong;
  if (wrong !== undefined) throw new Error(`${index} was called: ${wrong}`);
  if (store.withdrawn) {
    if (calls.length > 0 || store.told.length > 0) throw new Error(`D25: ${index} was taken back, and sent or told of`);
    return;
  }
  if (workers.some((worker) => worker !== null) || inFlight.length > 0) return;

  const slice = store.slices[String(Math.floor(index / 10))];
  const place = index % 10;
  const outcome = outcomeOf(state, index);
  const isByHand = outcome !== undefined && outcome.state !== 'again' && outcome.code === resolvedByOperator;
  const isQueued = queue.some(
    ({ body }) =>
      body.kind === 'chunk' &&
      body.chunk.slices.some(({ recipients }) => recipients.some((recipient) => recipient.index === index)),
  );
  const toCount = queue.some(({ body }) => body.kind === 'receipts' && body.indexes.includes(index));
  const isOpen = slice === undefined || openPlaces(slice).includes(place);
  if (isOpen && !isQueued) throw new Error(`R14: ${index} has vanished`);
  const taken = calls.filter(({ effect }) => platformEffects[effect].accepts);
  if (outcome?.state === 'sent' && taken.length === 0 && !isByHand)
    throw new Error(`R14: ${index} counts as sent and was not taken`);
  if (outcome?.state === 'unknown' && calls.length === 0 && !harmed && !stalled) {
    throw new Error(`R14: ${index} is unknown, was not called, and no run was killed`);
  }
  const wronglyRefused = taken.every(({ effect }) => effect === 'throttled_yet_taken');
  if (outcome?.state === 'failed' && !wronglyRefused && !isByHand)
    throw new Error(`R14: ${index} counts as failed and was taken`);
  if (isQueued || toCount || isOpen) return;
  if (outcome?.state === 'unknown' && calls.at(-1)?.effect === 'accepted' && !harmed) {
    throw new Error(`R14: ${index} is unknown, and the run that knows better lives`);
  }
  checkTold({ ...state, index, outcome, isByHand, isTaken: taken.length > 0 });
}

/**
 * Receipts resolve `unknown` for every reader (D39), a late end in the slice; either may tell it, and in this order.
 */
function checkTold({
  store,
  index,
  outcome,
  isByHand,
  isTaken,
}: Pick<State, 'store'> & {
  readonly index: number;
  readonly outcome: ReturnType<typeof outcomeOf>;
  readonly isByHand: boolean;
  readonly isTaken: boolean;
}): void {
  const told = store.told.filter((event) => event.startsWith(`${index} `)).map((event) => event.split(' ')[1]);
  const isProven = store.receipts.includes(index);
  const isLate = outcome?.state === 'sent' && outcome.resolvedAtMs !== undefined && !isByHand;
  const event = outcome?.state === 'sent' ? (outcome.held === undefined ? undefined : 'held') : outcome?.state;
  // An operator's settlement sends no event.
  if (event !== undefined && !isByHand && !told.includes(event) && !(event === 'unknown' && isProven)) {
    throw new Error(`D34: ${index} ended ${event} and its client was not told`);
  }
  const isResolved = isLate || (outcome?.state === 'unknown' && isProven);
  if (isResolved && told.includes('unknown') && !told.includes('resolved')) {
    throw new Error(`D39: ${index} is not told as resolved`);
  }
  const sayable = [
    ...(isByHand ? ['unknown'] : [event]),
    ...(isLate ? ['unknown'] : []),
    ...(isResolved || (isByHand && isProven) ? ['resolved'] : []),
    // A run that ends late tells what the platform took, and may die, or meet an operator's word, before it writes it.
    ...(isTaken && (isByHand || outcome?.state === 'unknown') ? ['resolved', 'held'] : []),
  ];
  const baseless = told.filter((kind) => !sayable.includes(kind as never));
  if (baseless.length > 0)
    throw new Error(`D34: ${baseless} was told of ${index}, and its slice says ${outcome?.state}`);
  const { [`${index} unknown`]: unknownAtMs = 0, [`${index} resolved`]: resolvedAtMs = Infinity } = store.toldAtMs;
  if (unknownAtMs >= resolvedAtMs) throw new Error(`D29: ${index} is told as unknown after it was resolved`);
}
