import { expect, test } from 'vitest';
import type { DispatchInHand } from '../../../../lib/messages/sender/dispatch-in-hand.ts';
import { givenUpFor } from '../../../../lib/messages/sender/place-in-hand.ts';
import { SliceRunWorld } from './slice-run-world.ts';

/** Which dispatch in hand makes room for one that is due (D44, D45). */

async function handsOf(clients: readonly number[]): Promise<DispatchInHand[]> {
  const world = new SliceRunWorld();
  const ids = clients.map((clientId, at) => {
    world.accept(1, { dispatchId: `D${at}`, clientId });
    return `D${at}`;
  });
  return await Promise.all(ids.map((id) => world.handOf(id)));
}

test.each<
  [string, { clients: number[]; front?: number[]; busy?: number[]; waits?: number[] }, object, number | undefined]
>([
  ['one that waits, whoever comes', { clients: [1, 2, 2], waits: [0] }, { clientId: 2 }, 0],
  ['one of the client that has most, for a new client', { clients: [1, 2, 2] }, { clientId: 3 }, 1],
  ['none for a client that has some in hand', { clients: [1, 2, 2] }, { clientId: 1 }, undefined],
  ['one for its entry in front', { clients: [1, 2, 2] }, { clientId: 1, front: true }, 1],
  ['none that stands in front itself', { clients: [2, 2], front: [0] }, { clientId: 3 }, 1],
  ['none where each client has one', { clients: [1, 2] }, { clientId: 3 }, undefined],
  ['none of which something is under way', { clients: [2, 2], busy: [0, 1] }, { clientId: 3 }, undefined],
])('%s', async (_, { clients, front = [], busy = [], waits = [] }, comer, given) => {
  const all = await handsOf(clients);
  for (const [at, hand] of all.entries()) if (front.includes(at)) hand.entry = { ...hand.entry, front: true };
  const idle = all.filter((_hand, at) => !busy.includes(at));
  const found = givenUpFor({ clientId: 0, ...comer }, { all, idle }, (hand) => waits.includes(all.indexOf(hand)));
  expect(found === undefined ? undefined : all.indexOf(found)).toBe(given);
});
