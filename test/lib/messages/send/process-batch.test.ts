import { expect, test } from 'vitest';
import { correlationId } from '../../../../lib/observe/correlation.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { ChunkRunWorld, chunkOf, phoneNumberId, recipientAt, slicesOf } from './chunk-run-world.ts';

/** circuit-breaker-run.test.ts shows the effect of the platform's circuit breaker. */

test.each([
  ['is not JSON', '{', 'SyntaxError'],
  ['is no chunk', JSON.stringify({ version: 1, dispatchId: 'J' }), 'ValiError'],
  ['says no version', JSON.stringify({ dispatchId: 'J' }), 'ValiError'],
  ['is of a later version (D47)', JSON.stringify({ ...chunkOf(slicesOf(1)), version: 2 }), 'LaterVersion'],
])('a message that %s fails alone, and loudly (R18)', async (_, body, error) => {
  const world = new ChunkRunWorld();
  const [first, last] = [chunkOf(slicesOf(1)), chunkOf(slicesOf(2), { dispatchId: 'K' })];
  expect(await world.work([first, body, last])).toEqual(['m1']);
  expect([world.outcomes(1), world.outcomes(2, 'K')]).toEqual([['sent'], ['sent', 'sent']]);
  expect(world.facts('send.error')).toEqual([{ error }]);
});

test('a run of which nothing can be read asks for nothing', async () => {
  const world = new ChunkRunWorld();
  expect(await world.work(['{'])).toEqual(['m0']);
  expect([world.breaker.finds, world.calls]).toEqual([0, []]);
});

test('one chunk that comes again keeps no other from being acknowledged', async () => {
  const world = new ChunkRunWorld();
  world.faultOf = (name) => (name === 'sendLater' ? 'fails' : undefined);
  world.send = async (_, index) => {
    if (index === 0) throw new PlatformFailure('not_sent');
    return {};
  };
  const good = chunkOf([{ try: 0, size: 1, recipients: [recipientAt(10)] }], { dispatchId: 'K' });
  expect(await world.work([chunkOf(slicesOf(1)), good])).toEqual(['m0']);
});

test('a delivery whose wait cannot be set comes again all the same', async () => {
  const world = new ChunkRunWorld();
  world.faultOf = (name) => (name === 'postpone' ? 'fails' : undefined);
  world.send = async () => await world.time.sleep(100).then(() => ({}));
  expect(await world.work([chunkOf(slicesOf(1)), chunkOf(slicesOf(1))])).toHaveLength(1);
  expect(world.facts('send.postpone_failed')).toEqual([{ count: 1, error: 'Error' }]);
});

test('each chunk is told and logged under the id of its own request', async () => {
  const world = new ChunkRunWorld();
  world.send = async () => Promise.reject(new PlatformFailure('ambiguous'));
  const chunks = ['one', 'two', undefined].map((id, at) =>
    chunkOf(slicesOf(1), { dispatchId: `J${at}`, correlationId: id }),
  );
  const under: (string | undefined)[] = [];
  await world.work(chunks, { log: (event) => void (event === 'send.unknown' && under.push(correlationId())) });
  expect(under.sort()).toEqual(['one', 'two', undefined]);
  expect(world.events.sent.map((event) => event.correlationId).sort()).toEqual(['one', 'two', undefined]);
});

test('the log of a run is one line for what became of its messages, under the id of its one request, or with the ids', async () => {
  const under: unknown[] = [];
  const world = new ChunkRunWorld();
  const logs = { log: (event: string, facts: object) => void under.push([event, facts, correlationId()]) };
  await world.work([chunkOf(slicesOf(30), { correlationId: 'one' })], logs);
  expect(under.splice(0)).toEqual([['send.batch', { count: 1, tally: { sent: 30 } }, 'one']]);
  const two = ['one', 'two'].map((id) => chunkOf(slicesOf(1), { dispatchId: id, correlationId: id }));
  await world.work(two, logs);
  const facts = { count: 2, tally: { sent: 2 }, correlationIds: ['one', 'two'] };
  expect(under).toEqual([['send.batch', facts, undefined]]);
});

test('workers of small requests leave a number to those of dispatches for ten seconds once a call has had no answer for one (D44)', async () => {
  const world = new ChunkRunWorld();
  const small = { isOfSmallRequests: true };
  const codeOf = (dispatchId: string) => chunkOf(slicesOf(1), { dispatchId, straight: true, urgent: true });
  const answersAfter = (ms: number) => {
    world.send = async () => await world.time.sleep(ms).then(() => ({}));
  };
  answersAfter(999);
  await world.work([codeOf('quick')], small);
  await world.wait(1_000);
  expect(world.paces.stored.get(phoneNumberId)?.slowUntilMs).toBeUndefined();
  answersAfter(5_000);
  await world.work([codeOf('slow'), codeOf('too')], small);
  answersAfter(50);
  const late = codeOf('late');
  await world.work([late], small);
  expect(world.requeued.splice(0)).toEqual([{ chunk: late, delaySeconds: 0, to: 'dispatches' }]);
  expect(world.outcomes(1, 'late')).toEqual([undefined]);
  await world.work([late]);
  await world.wait(6_000);
  await world.work([codeOf('after')], small);
  const outcomes = ['quick', 'slow', 'too', 'late', 'after'].flatMap((dispatchId) => world.outcomes(1, dispatchId));
  expect([outcomes, world.requeued]).toEqual([Array(5).fill('sent'), []]);
});

test('a call of a worker of dispatches tells nothing of its number: other workers of dispatches may wait for it', async () => {
  const world = new ChunkRunWorld();
  world.send = async () => await world.time.sleep(5_000).then(() => ({}));
  await world.work([chunkOf(slicesOf(1))]);
  expect(world.paces.stored.get(phoneNumberId)?.slowUntilMs).toBeUndefined();
});
