import { expect, test } from 'vitest';
import { unknownBreaker } from '../../../../lib/messages/holds/breaker.ts';
import { holdableOf } from '../../../../lib/messages/holds/held-dispatch.ts';
import { noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { numberScope, templateScope } from '../../../../lib/messages/holds/scope.ts';
import { unknownPace } from '../../../../lib/messages/pace/known-pace.ts';
import { everyMsOf, type Share } from '../../../../lib/messages/sender/places.ts';
import { SmallRequestInHand } from '../../../../lib/messages/sender/small-request-in-hand.ts';
import { placesFor } from '../../../../lib/messages/sender/small-request-places.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';

const nowMs = 1_700_000_010_000;
const limitPerSecond = 80;
const idle = {
  ...{ pace: unknownPace, breaker: unknownBreaker, holds: new Map(), isSending: false },
  ...{ isDown: false, limitPerSecond },
};

function requestOf(name: string, size: number, head: Parameters<typeof makeDispatch>[1] = {}) {
  const dispatch = makeDispatch(makeRecipients(size), { dispatchId: name, ...head });
  return { name, size, hand: new SmallRequestInHand({ ...dispatch, limitPerSecond }) };
}
type Request = ReturnType<typeof requestOf>;
const code = (name: string, size = 1) => requestOf(name, size, { urgent: true });
const other = (name: string, size = 1) => requestOf(name, size);

/** Returns the requests that have places, with how many, and what was asked of the counter. */
async function shared(requests: readonly Request[], standing: Partial<typeof idle> = {}, free = 100) {
  const asked: [Share, number, number][] = [];
  const take = async (_: string, share: Share, { count, everyMs }: { count: number; everyMs: number }) => {
    asked.push([share, count, everyMs]);
    return Array.from({ length: Math.min(free, count) }, (_, at) => nowMs + at * 14);
  };
  const places = await placesFor(
    requests,
    { ...idle, ...standing },
    { places: { take }, process: { nowMs: () => nowMs } },
  );
  return { has: [...places].map(([{ name }, { length }]) => `${name} ${length}`), asked };
}

test('all requests of a number take their places by one write, codes first (D44)', async () => {
  const { has, asked } = await shared([other('a', 3), code('b'), other('c', 2)]);
  expect(has).toEqual(['b 1', 'a 3', 'c 2']);
  expect(asked).toEqual([['free', 6, everyMsOf('free', limitPerSecond, unknownPace, nowMs)]]);
});

test('where too few are left, a request has all of its places or none', async () => {
  expect((await shared([other('a', 3), other('b', 3)], {}, 5)).has).toEqual(['a 3']);
});

test('beside a sender codes alone have places, of the last tenth (D44)', async () => {
  const { has, asked } = await shared([other('a'), code('b')], { isSending: true });
  expect(has).toEqual(['b 1']);
  expect(asked).toEqual([['tenth', 1, everyMsOf('tenth', limitPerSecond, unknownPace, nowMs)]]);
  expect((await shared([other('a')], { isSending: true })).asked).toEqual([]);
});

const { facts } = other('a').hand;
const held = opened(numberScope(facts), { code: '131031', nowMs })(noHolds);
test.each([
  ['the platform is down', { isDown: true }],
  ['the number answers slowly', { pace: { ...unknownPace, slowUntilMs: nowMs + 1 } }],
  ['its messages are held (D46)', { holds: new Map([[facts.wabaId, held]]) }],
  [
    'its template was reviewed since acceptance (D56)',
    { holds: new Map([[facts.wabaId, { ...noHolds, reviewedMs: { [templateScope(holdableOf(facts))]: nowMs } }]]) },
  ],
])('no place while %s', async (_, standing) => {
  expect(await shared([other('a'), code('b')], standing)).toEqual({ has: [], asked: [] });
});

test('a number is slow no longer than noted', async () => {
  expect((await shared([code('b')], { pace: { ...unknownPace, slowUntilMs: nowMs } })).has).toEqual(['b 1']);
});

test('what has expired ends without a place, whatever holds it back', async () => {
  const late = requestOf('late', 2, { expiresAtMs: nowMs });
  expect(await shared([late])).toEqual({ has: ['late 0'], asked: [] });
  expect((await shared([late], { isDown: true })).has).toEqual(['late 0']);
  expect((await shared([requestOf('soon', 2, { expiresAtMs: nowMs + 1 })])).has).toEqual(['soon 2']);
});
