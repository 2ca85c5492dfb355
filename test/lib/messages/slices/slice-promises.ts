import { openPlaces } from '../../../../lib/messages/slices/slice.ts';
import type { State } from './slice-explorer.ts';
import { platformEffects } from './slice-world.ts';

const finalEffects = new Set(['accepted', 'refused', 'lost_before', 'lost_after']);

/** R13, D39 and D53 in every state, R14 and D34 in every state in which no run is at work. */
export function checkPromises(state: State, sizes: readonly number[]): void {
  for (const [slice, size] of sizes.entries()) {
    for (let place = 0; place < size; place += 1) checkRecipient(state, slice * 10 + place);
  }
}

function checkRecipient(state: State, index: number): void {
  const { store, queue, workers, inFlight, harmed } = state;
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
  const outcome = slice?.outcomes[place];
  const isQueued = queue.some(
    ({ body }) =>
      body.kind === 'chunk' &&
      body.chunk.slices.some(({ recipients }) => recipients.some((recipient) => recipient.index === index)),
  );
  const toCount = queue.some(({ body }) => body.kind === 'receipts' && body.indexes.includes(index));
  const isOpen = slice === undefined || openPlaces(slice).includes(place);
  if (isOpen && !isQueued) throw new Error(`R14: ${index} has vanished`);
  const taken = calls.filter(({ effect }) => platformEffects[effect].accepts);
  if (outcome?.state === 'sent' && taken.length === 0)
    throw new Error(`R14: ${index} counts as sent and was not taken`);
  if (outcome?.state === 'unknown' && calls.length === 0 && !harmed) {
    throw new Error(`R14: ${index} is unknown, was not called, and no run was killed`);
  }
  const wronglyRefused = taken.every(({ effect }) => effect === 'throttled_yet_taken');
  if (outcome?.state === 'failed' && !wronglyRefused) throw new Error(`R14: ${index} counts as failed and was taken`);
  if (isQueued || toCount || isOpen) return;
  const told = store.told.filter((event) => event.startsWith(`${index} `)).map((event) => event.split(' ')[1]);
  if (outcome?.state === 'unknown' && store.receipts.includes(index)) {
    throw new Error(`D39: ${index} has a receipt and stays unknown`);
  }
  if (outcome !== undefined && outcome.state !== 'sent' && !told.includes(outcome.state)) {
    throw new Error(`D34: ${index} ended ${outcome.state} and its client was not told`);
  }
  if (outcome?.state === 'sent' && told.includes('unknown') && !told.includes('resolved')) {
    throw new Error(`D39: ${index} is not told as resolved`);
  }
  const sayable = [outcome?.state, ...(outcome?.resolvedAtMs === undefined ? [] : ['unknown', 'resolved'])];
  const baseless = told.filter((kind) => !sayable.includes(kind as never));
  if (baseless.length > 0)
    throw new Error(`D34: ${baseless} was told of ${index}, and its slice says ${outcome?.state}`);
}
