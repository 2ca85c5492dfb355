import { expect, test } from 'vitest';
import { cancelled } from '../../lib/messages/dispatch/item-state.ts';
import { opened } from '../../lib/messages/holds/hold.ts';
import { isOfPart } from '../../lib/messages/sender/entry-progress.ts';
import { makeDispatch, makeDispatchHead, makeRecipients } from '../support/made-dispatches.ts';
import { accept, quietRules } from './quiet-world.ts';
import { PipelineWorld, startMs, type WorldRules } from './world.ts';

function worldOf(rules: Partial<WorldRules> = {}): PipelineWorld {
  return new PipelineWorld(quietRules(rules));
}

/** A send with a time is no small request. */
const due = { asked: {}, fromMs: startMs };

const heldWaba = '200000000000009';

/** Holds a WABA whose dispatches share the number. The platform has announced an end, which is asked for then. */
function hold(world: PipelineWorld, untilMs: number): void {
  void world.holds.change(heldWaba, opened('waba', { code: '368', nowMs: world.time.nowMs, untilMs }));
}

function firstMs(world: PipelineWorld, dispatchId: string): number {
  const first = world.platform.posts.find(({ messageId }) => messageId.startsWith(`${dispatchId}-`));
  return first?.atMs ?? Number.POSITIVE_INFINITY;
}

function acceptAfter(world: PipelineWorld, afterMs: number, ...of: [number, Parameters<typeof accept>[2]]) {
  const accepted = { dispatchId: '', atMs: startMs + afterMs };
  void world.time.sleep(afterMs).then(() => {
    accepted.dispatchId = accept(world, ...of);
  });
  return accepted;
}

test('six hundred held dispatches keep none from leaving, and are read once (D46)', async () => {
  const world = worldOf();
  hold(world, startMs + 600_000);
  for (let at = 0; at < 600; at += 1) accept(world, 11, { clientId: 1, wabaId: heldWaba });
  const free = acceptAfter(world, 60_000, 40, { clientId: 2 });
  await world.run(240_000);
  expect(firstMs(world, free.dispatchId) - free.atMs).toBeLessThan(2_000);
  // The first run reads each once and leaves word in its entry, whether it keeps it in hand or not.
  expect(world.meter.calls.get('findStored')).toBeLessThan(650);
});

test('a number whose dispatches are all held has no run before a hold asks, and goes on once none is left (D46)', async () => {
  const world = worldOf();
  const untilMs = startMs + 600_000;
  hold(world, untilMs);
  for (let at = 0; at < 50; at += 1) accept(world, 11, { clientId: 1, wabaId: heldWaba });
  const leases: number[] = [];
  const leasesAfter = (afterMs: number) =>
    void world.time.sleep(afterMs).then(() => leases.push(world.meter.calls.get('changeLease') ?? 0));
  for (const afterMs of [90_000, 590_000]) leasesAfter(afterMs);
  await world.run(1_200_000);
  expect(leases[1]).toBe(leases[0]);
  const [first] = world.platform.posts;
  expect(first?.atMs).toBeGreaterThanOrEqual(untilMs);
  expect(first?.atMs).toBeLessThan(untilMs + 3_000);
  expect(world.platform.posts.filter(({ taken }) => taken)).toHaveLength(550);
});

test('a parking that could not be written is written by the next run (D46)', async () => {
  let parkings = 0;
  const faultOf: WorldRules['faultOf'] = (name) => {
    if (name !== 'park') return undefined;
    parkings += 1;
    return parkings === 1 ? 'fails' : undefined;
  };
  const world = worldOf({ faultOf });
  hold(world, startMs + 3_600_000);
  const dispatchId = accept(world, 40, { wabaId: heldWaba });
  await world.run(180_000);
  expect(world.table.states.get(dispatchId)?.parked?.code).toBe('368');
});

test('a cancellation that died after its stop is told while the dispatch is held (D46, D53)', async () => {
  const world = worldOf({ random: () => 0.1 });
  hold(world, startMs + 3_600_000);
  const dispatchId = accept(world, 40, { wabaId: heldWaba });
  void world.cancel(dispatchId, cancelled(startMs + 90_000), 90_000);
  await world.run(300_000);
  expect([...world.told.values()].filter(({ type }) => type === 'message.failed')).toHaveLength(40);
  expect(world.backlog.size).toBe(0);
});

test('six hundred dispatches of a client leave room for another client (D45)', async () => {
  const world = worldOf();
  for (let at = 0; at < 600; at += 1) accept(world, 40, { clientId: 1 });
  const free = acceptAfter(world, 60_000, 40, { clientId: 2 });
  await world.run(90_000);
  expect(firstMs(world, free.dispatchId) - free.atMs).toBeLessThan(2_000);
});

test('a small request without a place does not wait for six hundred dispatches of its own client (D44)', async () => {
  // The last tenth of so slow a number has no place.
  const world = new PipelineWorld(quietRules({ limitPerSecond: 5 }));
  for (let at = 0; at < 600; at += 1) accept(world, 40, { clientId: 1 });
  const code = acceptAfter(world, 60_000, 1, { clientId: 1, urgent: true });
  await world.run(90_000);
  expect(firstMs(world, code.dispatchId) - code.atMs).toBeLessThan(2_000);
});

test('parts of a fast number that had nothing to do are woken for a cancellation (D53)', async () => {
  const world = worldOf({ limitPerSecond: 1_000, random: () => 0.5, answerMs: () => 25_000 });
  const ids = Array.from({ length: 100 }, (_, at) => `01JP${String(at).padStart(22, '0')}`);
  const dispatchId = ids.find((id) => isOfPart({ part: 0, of: 8 }, id, 0)) ?? '';
  // The first part waits for the answers of these ten.
  world.accept(makeDispatch(makeRecipients(10), { dispatchId, acceptedAtMs: startMs, when: due }));
  const scheduled = accept(world, 240, { when: { asked: {}, fromMs: startMs + 600_000 } });
  void world.cancel(scheduled, cancelled(startMs + 10_000), 10_000);
  await world.run(60_000);
  const completed = [...world.told.values()].find(({ type }) => type === 'dispatch.completed');
  expect(completed?.timestampMs).toBeLessThan(startMs + 15_000);
});

/** Returns how far apart the shares of these clients are, as a part of a fair share. */
function unequal(world: PipelineWorld, clientOf: (dispatchId: string) => number, untilMs: number): number {
  const counts = new Map<number, number>();
  for (const { messageId, atMs } of world.platform.posts) {
    if (atMs > untilMs) continue;
    const client = clientOf(messageId.slice(0, messageId.lastIndexOf('-')));
    counts.set(client, (counts.get(client) ?? 0) + 1);
  }
  const shares = [...counts.values()];
  const fair = shares.reduce((sum, one) => sum + one, 0) / counts.size;
  return (Math.max(...shares) - Math.min(...shares)) / fair;
}

test('a hundred clients have equal shares over five runs (D45)', async () => {
  const world = worldOf();
  const clients = new Map<string, number>();
  for (let clientId = 0; clientId < 100; clientId += 1) clients.set(accept(world, 400, { clientId }), clientId);
  await world.run(510_000);
  expect(unequal(world, (dispatchId) => clients.get(dispatchId) ?? -1, startMs + 500_000)).toBeLessThan(0.05);
});

test('a client of many small dispatches has the share of a client of one (D45)', async () => {
  const world = worldOf();
  const large = accept(world, 6_000, { clientId: 1 });
  for (let at = 0; at < 300; at += 1) accept(world, 11, { clientId: 2 });
  await world.run(70_000);
  expect(unequal(world, (dispatchId) => (dispatchId === large ? 1 : 2), startMs + 60_000)).toBeLessThan(0.02);
});

test('one, then eight, then one sender of a number send each message of small dispatches once (R13, D41)', async () => {
  const world = worldOf({ limitPerSecond: 5 });
  world.parts = 1;
  const sizes = Array.from({ length: 60 }, (_, at) => 11 + (at % 30));
  for (const [at, size] of sizes.entries()) accept(world, size, { clientId: at % 3 });
  // A run lasts a hundred seconds: the next one has the new number of parts.
  const partsSeen = new Set<number>();
  for (const [afterMs, parts] of [
    [50_000, 8],
    [150_000, 1],
    [250_000, 8],
  ] as const) {
    void world.time.sleep(afterMs).then(() => {
      for (const entry of world.backlog.entries.values()) partsSeen.add(entry.parts?.length ?? 0);
      world.parts = parts;
    });
  }
  await world.run(3_600_000);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(partsSeen).toEqual(new Set([0, 1, 8]));
  // Beside each other, one and eight senders are too fast: the platform refuses some, which are called again.
  const taken = world.platform.posts.filter((post) => post.taken);
  expect([...world.told.values()].filter(({ type }) => type === 'message.unknown')).toHaveLength(0);
  expect(taken).toHaveLength(total);
  expect(new Set(taken.map(({ messageId }) => messageId)).size).toBe(total);
  const completed = [...world.told.values()].filter(({ type }) => type === 'dispatch.completed');
  expect(completed).toHaveLength(sizes.length);
  expect(world.logged.get('dispatch.unreadable')).toBeUndefined();
  expect(world.backlog.size).toBe(0);
});

test('a number of one message in ten seconds sends them all, slice by slice', async () => {
  const world = worldOf({ limitPerSecond: 0.1 });
  accept(world, 25);
  await world.run(3_600_000);
  const times = world.platform.posts.map(({ atMs }) => atMs);
  expect(new Set(world.platform.posts.map(({ messageId }) => messageId)).size).toBe(25);
  expect(times).toHaveLength(25);
  const apart = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
  expect(Math.min(...apart)).toBeGreaterThan(10_000);
  expect(Math.max(...apart)).toBeLessThan(60_000);
  expect(world.killedRuns).toBe(0);
});

test('nothing is claimed whose turns come after the last call of a run', async () => {
  // The tenth turn comes at 98 s, the next one at 109 s: a run claims until 100 s, and calls until 108 s.
  const world = worldOf({ limitPerSecond: 0.102 });
  accept(world, 40);
  await world.run(3_600_000);
  expect(world.platform.posts).toHaveLength(40);
  expect(world.meter.calls.get('claimSlice')).toBeLessThan(25);
});

test('ten thousand dispatches that wait for their time cost a sender nothing', async () => {
  const world = worldOf();
  for (let at = 0; at < 10_000; at += 1) {
    const dispatchId = `01JW${String(at).padStart(22, '0')}`;
    const when = { asked: {}, fromMs: startMs + 5 * 3_600_000 };
    world.backlog.enter(makeDispatchHead({ dispatchId, acceptedAtMs: startMs, when }));
  }
  accept(world, 4_000);
  await world.run(60_000);
  const { posts } = world.platform;
  expect(posts).toHaveLength(4_000);
  expect(world.backlog.entriesRead).toBeLessThan(500);
});

test.each([700, 5_000])('a dispatch leaves in the second of its Send-At, %i s ahead (D56)', async (seconds) => {
  const world = worldOf();
  const fromMs = startMs + 1_000 * seconds + 250;
  const dispatchId = accept(world, 40, { when: { asked: {}, fromMs } });
  await world.run(2 * 3_600_000);
  expect(firstMs(world, dispatchId)).toBeGreaterThanOrEqual(fromMs);
  expect(firstMs(world, dispatchId)).toBeLessThan(fromMs + 2_100);
});

test('an entry whose acceptance died is withdrawn after a minute, and nothing of it leaves (D25)', async () => {
  const world = worldOf();
  const head = makeDispatchHead({ total: 10, acceptedAtMs: startMs });
  world.table.store({ ...makeDispatch(makeRecipients(10)), head });
  world.backlog.enter(head);
  const beside = accept(world, 40);
  let standing = 'unknown';
  const isWithdrawn = () => world.table.dispatches.get(head.dispatchId)?.withdrawnAtMs !== undefined;
  void world.time.sleep(59_000).then(() => {
    standing = isWithdrawn() ? 'withdrawn' : 'open';
  });
  await world.run(240_000);
  expect(standing).toBe('open');
  expect(isWithdrawn()).toBe(true);
  expect(world.backlog.size).toBe(0);
  expect(world.platform.posts.every(({ messageId }) => messageId.startsWith(beside))).toBe(true);
});

test('a sweeper that is absent for ten minutes delays only what has lost its wake', async () => {
  let wakes = 0;
  const world = worldOf({
    faultOf: (name) => {
      if (name === 'wakeAccepted') wakes += 1;
      return name === 'wakeAccepted' && wakes === 1 ? 'fails' : undefined;
    },
  });
  world.sweepsFromMs = startMs + 600_000;
  const lost = accept(world, 40, { phoneNumberId: '300000000000009' });
  const woken = acceptAfter(world, 30_000, 40, {});
  await world.run(1_200_000);
  expect(firstMs(world, woken.dispatchId)).toBeLessThan(woken.atMs + 2_000);
  expect(firstMs(world, lost)).toBeGreaterThan(startMs + 600_000);
  // What is late is woken ever more rarely: after 8 and 15 minutes.
  expect(firstMs(world, lost)).toBeLessThan(startMs + 662_000);
});

test('a dispatch that is accepted while the lease is given back leaves at once', async () => {
  for (let ms = 0; ms < 600; ms += 6) {
    const world = worldOf({ delayJitterMs: 0, random: () => 0.5 });
    world.sweepsFromMs = Number.POSITIVE_INFINITY;
    accept(world, 1, { when: due });
    const next = acceptAfter(world, ms, 1, { when: due });
    await world.run(20_000);
    // A sender that meets it before it has begun waits for five seconds.
    expect(firstMs(world, next.dispatchId), `accepted after ${ms} ms`).toBeLessThan(next.atMs + 2_000);
  }
});
