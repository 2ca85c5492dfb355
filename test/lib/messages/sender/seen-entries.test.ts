import { describe, expect, test } from 'vitest';
import { OutOfReach } from '../../../../lib/aws/out-of-reach.ts';
import type { BacklogEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import { doneMs, withNews } from '../../../../lib/messages/sender/entry-progress.ts';
import { Errands } from '../../../../lib/messages/sender/errands.ts';
import { SeenEntries } from '../../../../lib/messages/sender/seen-entries.ts';
import type { SenderPorts } from '../../../../lib/messages/sender/sender-ports.ts';
import { correlationId } from '../../../../lib/observe/correlation.ts';
import { MemoryBacklog } from '../../../support/messages-table/memory-backlog.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

/** What a sender remembers of the entries of its number, and does with their dispatches beside slices. */

const part = { part: 0, of: 1 };
const of = (dispatchId: string) => ({ dispatchId, seenNewsMs: undefined });

const scenarioOf = (dispatchId: string) => ({ ...scenarioHead, dispatchId });

function worldOf(...ids: readonly string[]) {
  const time = new VirtualTime(startMs);
  const stored = new MemoryBacklog();
  const calls: string[] = [];
  const call = async <T>(name: string, effect: () => T | Promise<T>) => {
    calls.push(name);
    return await effect();
  };
  for (const dispatchId of ids) stored.enter({ ...scenarioHead, dispatchId, correlationId: `of ${dispatchId}` });
  const backlog = stored.ofSender({ call });
  const entries = new SeenEntries(part, backlog);
  const look = () => entries.saw([...stored.entries.values()]);
  look();
  const entry = (dispatchId: string) => entries.get(dispatchId) as BacklogEntry;
  return {
    time,
    stored,
    backlog,
    entries,
    look,
    entry,
    calls,
    ids: () => entries.all.map(({ dispatchId }) => dispatchId),
  };
}

describe('entries', () => {
  test('what this run has removed is not seen again, although a look may have begun before', async () => {
    const { stored, entries, look, entry, ids } = worldOf('A', 'B');
    const early = [...stored.entries.values()];
    await entries.remove(entry('A'));
    entries.saw(early);
    expect([ids(), stored.entries.has('A')]).toEqual([['B'], false]);
    look();
    expect(ids()).toEqual(['B']);
  });

  test('what this part has done is no concern of it; what it forgets comes with the next look', () => {
    const { entries, entry, look, ids, ...world } = worldOf('A');
    entries.forget(entry('A'));
    expect(ids()).toEqual([]);
    look();
    expect(ids()).toEqual(['A']);
    const [first, second] = [0, 1].map((own) => new SeenEntries({ part: own, of: 2 }, world.backlog));
    const parts = [
      { floor: 100, dueMs: doneMs },
      { floor: 0, dueMs: startMs },
    ];
    for (const seen of [first, second]) seen?.saw([{ ...entry('A'), parts }]);
    expect([first?.all.length, second?.all.length]).toEqual([0, 1]);
  });

  test('a move is written once: the same again costs nothing, and an entry that is gone stays so', async () => {
    const { stored, entries, entry, calls } = worldOf('A');
    const progress = { floor: 1, dueMs: startMs + 5 };
    await entries.move(entry('A'), progress);
    expect([entry('A').parts, stored.entries.get('A')?.parts]).toEqual([[progress], [progress]]);
    const { length } = calls;
    expect(await entries.move(entry('A'), progress)).toBe(entry('A'));
    expect(calls).toHaveLength(length);
    await entries.move(entry('A'), { ...progress, dueMs: startMs + 6 });
    await entries.move(entry('A'), { ...progress, floor: 2, dueMs: startMs + 6 });
    expect(calls.length).toBeGreaterThan(length + 1);
    const gone = entry('A');
    stored.entries.clear();
    expect(await entries.move(gone, { floor: 3, dueMs: 0 })).toBeUndefined();
  });

  test('after lost leases one dispatch has its turn alone, of those that are due; then all are there again', async () => {
    const { entries, entry, look, ids } = worldOf('A', 'B', 'C');
    await entries.move(entry('A'), { floor: 0, dueMs: startMs + 60_000 });
    entries.takeTurn({ lost: 1 }, startMs);
    expect([entries.isAlone, ids()]).toEqual([false, ['A', 'B', 'C']]);
    entries.takeTurn({ lost: 2 }, startMs);
    expect([entries.isAlone, ids()]).toEqual([true, ['B']]);
    look();
    expect(ids()).toEqual(['B']);
    const next = entries.endTurn(startMs);
    expect([next, entries.isAlone, ids()]).toEqual([{ lost: 2, turnOf: 'B' }, false, ['A', 'B', 'C']]);
    // What has ended meanwhile takes no other's turn.
    await entries.remove(entry('B'));
    entries.takeTurn(next, startMs);
    expect(ids()).toEqual(['C']);
    expect(entries.endTurn(startMs)).toEqual({});
    // One that would be next is gone: the turns begin again, and none are taken together.
    entries.takeTurn({ lost: 2, turnOf: 'C' }, startMs);
    expect(ids()).toEqual(['C']);
  });
});

describe('errands', () => {
  function errandsIn(world: ReturnType<typeof worldOf>) {
    const changes: number[] = [];
    const logged: unknown[] = [];
    const nowMs = () => world.time.nowMs;
    const log: SenderPorts['process']['log'] = (event, { dispatchId, error }) =>
      void logged.push([event, dispatchId, error]);
    const process = { invocation: '', nowMs, log, remainingMs: nowMs, random: () => 0, pause: async () => undefined };
    const errands = new Errands(part, world.entries, () => changes.push(world.time.nowMs), process);
    const fails = async () => Promise.reject(new TypeError('damaged'));
    return { errands, changes, logged, fails };
  }

  test('one at a time for each dispatch, under the id of its request; its end is signalled', async () => {
    const { errands, changes } = errandsIn(worldOf('A', 'B'));
    const done: unknown[] = [];
    const gate = Promise.withResolvers<void>();
    errands.do(of('A'), async () => {
      await gate.promise;
      done.push(['A', correlationId()]);
    });
    errands.do(of('A'), async () => void done.push('A again'));
    errands.do(of('B'), async () => void done.push(['B', correlationId()]));
    expect([errands.running, errands.isOn('A'), errands.isOn('C')]).toEqual([2, true, false]);
    gate.resolve();
    await errands.allEnded();
    expect(done).toEqual([
      ['B', 'of B'],
      ['A', 'of A'],
    ]);
    expect([errands.running, errands.isOn('A'), changes.length]).toEqual([0, false, 2]);
  });

  test('what fails is tried again after 1 and 2 s, then as its entry says, ever later', async () => {
    const world = worldOf('A');
    const { errands, logged, fails } = errandsIn(world);
    const waits: number[] = [];
    for (let times = 0; times < 3; times += 1) {
      errands.do(of('A'), fails);
      await errands.allEnded();
      waits.push(errands.waitsUntilMs('A') - startMs);
    }
    expect(waits.slice(0, 2)).toEqual([1_000, 2_000]);
    const [kept] = world.stored.entries.get('A')?.parts ?? [];
    expect(kept).toEqual({ floor: 0, failures: 1, dueMs: startMs + (waits[2] ?? 0) });
    expect(waits[2]).toBeGreaterThanOrEqual(60_000);
    expect(errands.poisonOf('A')).toEqual({ failures: 1, dueMs: kept?.dueMs });
    expect(logged).toEqual(Array(3).fill(['dispatch.unreadable', 'A', 'TypeError']));
    await errands.blame(world.entry('A'), undefined);
    const [next] = world.stored.entries.get('A')?.parts ?? [];
    expect([next?.failures, (next?.dueMs ?? 0) > (kept?.dueMs ?? 0)]).toEqual([2, true]);
  });

  test('what succeeds owes nothing, and counts from the beginning', async () => {
    const world = worldOf('A');
    const { errands, fails } = errandsIn(world);
    for (let times = 0; times < 3; times += 1) {
      errands.do(of('A'), fails);
      await errands.allEnded();
    }
    errands.succeeded('A');
    expect([errands.waitsUntilMs('A'), errands.poisonOf('A')]).toEqual([0, undefined]);
    await errands.failed(of('A'), new TypeError('damaged'));
    expect(errands.waitsUntilMs('A')).toBe(startMs + 1_000);
  });

  test('nothing is done before a wait is over; a dispatch without an entry is blamed nowhere', async () => {
    const world = worldOf();
    const { errands, fails } = errandsIn(world);
    errands.wait('A', startMs + 7);
    expect(errands.waitsUntilMs('A')).toBe(startMs + 7);
    for (let times = 0; times < 4; times += 1) {
      errands.do(of('A'), fails);
      await errands.allEnded();
    }
    expect([errands.poisonOf('A'), world.calls]).toEqual([undefined, []]);
  });

  test('a store that is out of reach is no fault of a dispatch: it waits for two seconds, however often (D25)', async () => {
    const world = worldOf('A');
    const { errands, logged } = errandsIn(world);
    for (let times = 0; times < 5; times += 1) {
      errands.do(of('A'), async () => Promise.reject(new OutOfReach('throttled')));
      await errands.allEnded();
    }
    expect([errands.waitsUntilMs('A') - startMs, errands.poisonOf('A'), world.calls]).toEqual([2_000, undefined, []]);
    expect(logged).toEqual(Array(5).fill(['send.dispatch_not_read', undefined, 'OutOfReach']));
  });

  test('who is blamed has not read the news that came meanwhile: they stay due (D53)', async () => {
    const world = worldOf('A');
    const { errands } = errandsIn(world);
    await world.stored.ofNews({ call: async (_, effect) => await effect() }).bring(scenarioOf('A'), withNews(startMs));
    world.look();
    await errands.blame(world.entry('A'), undefined);
    expect(world.stored.entries.get('A')?.parts).toMatchObject([{ dueMs: startMs, failures: 1 }]);
    await errands.blame(world.entry('A'), startMs);
    expect(world.stored.entries.get('A')?.parts?.[0]?.dueMs).toBeGreaterThan(startMs);
  });
});
