import { describe, expect, test } from 'vitest';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled, longestParkMs } from '../../../../lib/messages/dispatch/item-state.ts';
import { ended } from '../../../../lib/messages/holds/hold-ends.ts';
import { blockedUntilMs, perSecondOf, recipientHashOf } from '../../../../lib/messages/pace/known-pace.ts';
import { type FailureFacts, type FailureKind, PlatformFailure } from '../../../../lib/platform/failure.ts';
import { countedBy } from '../../../support/counted.ts';
import {
  failingWith,
  idOf,
  numberAt,
  phoneNumberId,
  recipientOf,
  type SliceRunWorld,
  startMs,
  templateScope,
  wabaId,
  worldOf,
} from './slice-run-world.ts';

const dayMs = 86_400_000;
const throttled = new PlatformFailure('refused', { code: 130429 });
const again = (dueMs: number) => ({ state: 'again', dueMs });
const refused = (dueMs: number) => ({ ...again(dueMs), refused: true });

/** The first `times` calls fail, all others are taken. */
function failsFirst(times: number, error: unknown): SliceRunWorld['send'] {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw error;
    return {};
  };
}

describe('a message that is refused for now (R17)', () => {
  test('is called again by the same run after a short wait, once no receipt proves it taken (D39)', async () => {
    const world = worldOf();
    world.send = failsFirst(2, throttled);
    await world.run();
    expect(world.posted.map(({ atMs }) => atMs - startMs)).toEqual([0, 1_000, 3_000]);
    expect([world.outcomes(1), world.count('hasReceipt'), world.count('claimSlice')]).toEqual([['sent'], 2, 1]);
  });

  test('is sent, and not called again, where a receipt has come meanwhile', async () => {
    const world = worldOf();
    world.send = async () => {
      world.prove(0);
      throw throttled;
    };
    await world.run();
    expect([world.posted.length, world.outcome(0)]).toEqual([1, { state: 'sent', code: 'receipt' }]);
  });

  test('waits for the next try while receipts cannot be read', async () => {
    const world = worldOf();
    world.send = failsFirst(1, throttled);
    world.faultOf = (name) => (name === 'hasReceipt' ? 'fails' : undefined);
    await world.run();
    expect([world.posted.length, world.outcome(0)]).toEqual([1, refused(startMs + 1_000)]);
  });

  test('for a day: never failed before, always after a longer wait', async () => {
    const world = worldOf();
    world.send = failingWith('refused', { code: 130429, userMessage: 'slower' });
    await world.runAll();
    const waits = world.posted.map(({ atMs }, at) => (atMs - (world.posted[at - 1]?.atMs ?? startMs)) / 1_000);
    expect(waits.slice(1, 3)).toEqual([1, 2]);
    expect(Math.max(...waits)).toBe(900);
    expect(world.outcome(0)).toEqual({ state: 'failed', code: 'retry_deadline', reason: 'slower' });
    expect(world.nowMs - startMs).toBeLessThanOrEqual(dayMs);
    expect(world.nowMs - startMs).toBeGreaterThan(dayMs - 1_000_000);
  });

  test('for a day from its acceptance, whatever it waits for afterwards, and whichever run tries it (D46)', async () => {
    const world = worldOf(2);
    world.send = async (_, index) => {
      if (index === 0) throw new PlatformFailure('refused', { code: 131056 });
      return {};
    };
    await world.run();
    expect(world.outcome(0)).toMatchObject({ state: 'again', refused: true });
    await world.wait(30_000);
    world.hold('waba', '131042');
    await world.run();
    expect(world.outcome(0)).toMatchObject({ state: 'again', refused: true });
    world.holds.stored.clear();
    const { length } = world.posted;
    await world.wait(dayMs);
    await world.run();
    expect([world.posted.length, world.outcome(0)]).toEqual([length, { state: 'failed', code: 'retry_deadline' }]);
  });

  test('tries of one kind do not make the wait of another longer', async () => {
    const world = worldOf();
    const errors = [throttled, throttled, new PlatformFailure('not_sent')];
    world.send = async () => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return {};
    };
    await world.run();
    expect(world.posted.map(({ atMs }) => atMs - startMs)).toEqual([0, 1_000, 3_000, 5_000]);
  });
});

describe('its own time', () => {
  test('a person who is written to again is called when that is due (D43)', async () => {
    const recipients = Object.fromEntries(Array.from({ length: 46 }, (_, at) => [at, recipientOf(numberAt(0))]));
    const world = worldOf(46, { recipients });
    await world.run();
    const { dueMs } = world.outcome(45) as { dueMs: number };
    expect(world.posted).toHaveLength(45);
    expect(dueMs).toBeGreaterThanOrEqual(startMs + 6_000);
    await world.runAll();
    expect([world.outcome(45)?.state, world.posted[45]?.atMs]).toEqual(['sent', dueMs]);
  });

  test('131056: that person is remembered for as long, for other dispatches as well', async () => {
    const world = worldOf();
    world.send = failingWith('refused', { code: 131056 });
    await world.run();
    // 1 and 4 s are waited for, 16 s are not.
    expect([world.posted.length, world.outcome(0)]).toEqual([3, refused(startMs + 5_000 + 16_000)]);
    const untilMs = blockedUntilMs(world.paces.of(phoneNumberId), recipientHashOf(numberAt(0)), world.nowMs);
    expect(untilMs).toBe(world.nowMs + 16_000);
    world.accept(1, { dispatchId: 'K' });
    await world.run('K');
    expect([world.posted.length, world.outcome(0, 'K')]).toEqual([3, again(untilMs ?? 0)]);
  });

  test('no call begins so late that its answer could outlast the run', async () => {
    const world = worldOf(10);
    world.limitPerSecond = 1;
    world.remainingMs = (bornMs) => bornMs + 19_000 - world.nowMs;
    await world.run();
    expect(world.posted.length).toBeGreaterThan(2);
    expect(world.posted.at(-1)?.atMs).toBeLessThanOrEqual(startMs + 4_000);
    expect(world.outcomes(10).at(-1)).toBe('again');
  });
});

describe('between claim and call (D46, D53)', () => {
  test.each<[string, DispatchItemState, object]>([
    ['stopped', { stop: cancelled(startMs) }, { state: 'failed', code: 'cancelled' }],
    ['parked', { parked: { code: 'template_paused', scope: 'template', sinceMs: startMs } }, again(startMs + 15_000)],
    [
      'parked for a day',
      { parked: { code: 'template_paused', scope: 'template', sinceMs: startMs - longestParkMs } },
      { state: 'expired', code: 'template_paused' },
    ],
  ])('its dispatch was %s: no recipient is called', async (_, state, outcome) => {
    const world = worldOf();
    world.faultOf = (name) => {
      if (name !== 'claimSlice') return undefined;
      world.states.set('J', state);
      if (state.parked !== undefined) world.hold();
      return undefined;
    };
    await world.run();
    expect([world.posted, world.outcome(0)]).toEqual([[], outcome]);
  });

  test('a turn more than five seconds after the look looks again: who was stopped meanwhile is not called', async () => {
    const world = worldOf(10);
    world.limitPerSecond = 1;
    world.send = async () => {
      if (world.nowMs - startMs > 4_000) world.states.set('J', { begun: true, stop: cancelled(startMs) });
      return {};
    };
    await world.run();
    const { length } = world.posted;
    expect([length, world.outcomes(10)]).toEqual([
      5,
      [...Array(length).fill('sent'), ...Array(10 - length).fill('cancelled')],
    ]);
  });

  test('where that look fails, those that are left wait for the next try', async () => {
    const world = worldOf(10);
    world.limitPerSecond = 1;
    world.faultOf = (name) => (name === 'look' && world.count('look') > 1 ? 'fails' : undefined);
    await world.run();
    expect(world.posted.length).toBeLessThan(7);
    expect(world.outcomes(10).slice(world.posted.length)).toEqual(Array(10 - world.posted.length).fill('again'));
  });
});

describe('a message that may not be sent any more (D27)', () => {
  test.each<[string, object, number, string]>([
    ['expired', { expiresAtMs: startMs + 30_000 }, 30_000, 'expired'],
    ['older than claims are remembered', {}, 28 * dayMs, 'retry_deadline'],
  ])('%s: it ends without a call', async (_, head, afterMs, ended) => {
    const world = worldOf(1, head);
    await world.wait(afterMs);
    await world.run();
    expect([world.posted, world.outcomes(1)]).toEqual([[], [ended]]);
  });

  test.each<[string, object, number]>([
    ['first tried after two days of backlog', {}, 2 * dayMs],
    ['a moment before its expiry', { expiresAtMs: startMs + 30_000 }, 29_999],
  ])('%s it is still sent', async (_, head, afterMs) => {
    const world = worldOf(1, head);
    await world.wait(afterMs);
    await world.run();
    expect(world.outcomes(1)).toEqual(['sent']);
  });

  test('a code that expired before its turn counts as late, though it is never called (D44)', async () => {
    const world = worldOf(1, { expiresAtMs: startMs + 600_000, urgent: true });
    await world.wait(600_000);
    const [line] = await countedBy(async () => void (await world.run()));
    expect([world.posted, line?.['CodesCalled'], line?.['CodesLate']]).toEqual([[], 1, 1]);
  });

  test('because it expired while its slice was claimed, or would before it is called again', async () => {
    const slow = worldOf(1, { expiresAtMs: startMs + 40 });
    slow.latencyOf = (name) => (name === 'claimSlice' ? 40 : 0);
    await slow.run();
    expect([slow.posted, slow.outcome(0)]).toEqual([[], { state: 'expired', code: 'expired' }]);
    expect(slow.events.sent).toMatchObject([{ type: 'message.expired' }]);
    const refused = worldOf(1, { expiresAtMs: startMs + 1_000 });
    refused.send = failingWith('refused', { code: 130429 });
    await refused.run();
    expect([refused.posted.length, refused.outcomes(1)]).toEqual([1, ['expired']]);
  });

  test('because it cannot be composed (R14), or does not fit its changed template (D56)', async () => {
    const world = worldOf(3, { recipients: { 0: { to: numberAt(0) } } });
    world.judged = { fits: ({ to }) => to !== numberAt(1) };
    await world.run();
    expect([world.posted.length, world.outcomes(3)]).toEqual([1, ['not_composable', 'template_changed', 'sent']]);
  });
});

describe('what the platform answers', () => {
  test('that it took the message: its id is recorded', async () => {
    for (const answer of [{}, { messageStatus: 'accepted' }]) {
      const world = worldOf();
      const sent: unknown[] = [];
      world.send = async (posting) => {
        sent.push(posting);
        return answer;
      };
      await world.run();
      const request = expect.objectContaining({ to: numberAt(0), biz_opaque_callback_data: idOf(0) });
      expect(sent).toEqual([{ wabaId, phoneNumberId, path: 'messages', credential: 'main', request }]);
      expect(world.outcome(0)).toEqual({ state: 'sent', platformMessageId: 'platform-0' });
      expect(world.logged.map(({ event }) => event)).toEqual(['send.sent']);
    }
  });

  test('that it holds the message, or a word that is not known: taken (D39)', async () => {
    const world = worldOf(3);
    world.send = async (_, index) => ({
      messageStatus: ['held_for_quality_assessment', 'paused', 'teleported'][index] ?? '',
    });
    await world.run();
    const sent = (index: number) => ({ state: 'sent', platformMessageId: `platform-${index}` });
    expect([0, 1, 2].map((index) => world.outcome(index))).toEqual([
      { ...sent(0), held: 'held_for_quality_assessment' },
      { ...sent(1), held: 'paused' },
      sent(2),
    ]);
    expect(world.facts('send.status_unknown')).toEqual([{ messageId: idOf(2), code: 'teleported' }]);
  });

  test.each<[string, FailureKind, FailureFacts, object]>([
    [
      'a refusal',
      'refused',
      { code: 131026, userMessage: 'no such number' },
      { state: 'failed', code: '131026', reason: 'no such number' },
    ],
    ['silence', 'ambiguous', {}, { state: 'unknown', code: 'no_answer' }],
    ['a gateway', 'ambiguous', { httpStatus: 502 }, { state: 'unknown', code: 'http_502' }],
    [
      '132015 of which it is open whether it sent',
      'ambiguous',
      { httpStatus: 500, code: 132015 },
      { state: 'unknown', code: '132015' },
    ],
    [
      '132016 of which it is open whether it sent',
      'ambiguous',
      { httpStatus: 500, code: 132016 },
      { state: 'unknown', code: '132016' },
    ],
  ])('%s is final, and never tried again; it holds nothing back', async (_, kind, facts, outcome) => {
    const world = worldOf();
    world.send = failingWith(kind, facts);
    await world.runAll();
    expect([world.posted.length, world.outcome(0)]).toEqual([1, outcome]);
    expect(JSON.stringify(world.logged)).not.toContain('no such number');
    expect([world.table.doubtful.has('J'), world.states.get('J')]).toEqual([kind === 'ambiguous', { begun: true }]);
  });

  test('an error of ours is unknown as well', async () => {
    const world = worldOf();
    world.send = async () => Promise.reject(new TypeError('ours'));
    await world.run();
    expect(world.outcome(0)).toEqual({ state: 'unknown', code: 'error' });
  });

  test.each<[string, FailureKind, FailureFacts, string, number]>([
    ['too many, for so long', 'refused', { httpStatus: 429, retryAfterSeconds: 77 }, 'throughput', 77],
    ['the calls of an hour', 'refused', { code: 80007, retryAfterSeconds: 660 }, 'quota', 660],
    ['the credential', 'refused', { httpStatus: 401, code: 190 }, 'credential', 120],
    ['the number is being upgraded, at HTTP 500', 'ambiguous', { httpStatus: 500, code: 131057 }, 'maintenance', 60],
  ])('%s: not taken, and tried again', async (_, kind, facts, pace, seconds) => {
    const world = worldOf();
    world.send = failingWith(kind, facts);
    await world.run();
    expect(world.outcome(0)).toEqual(refused(startMs + seconds * 1_000));
    expect(world.facts('send.retry')).toEqual([{ code: pace }]);
    const named = pace === 'credential' ? [{ messageId: idOf(0), clientId: 1_001, wabaId }] : [];
    expect(world.facts('send.credential_refused')).toEqual(named);
  });
});

describe('what calls teach about the pace of their number', () => {
  const perSecond = (world: SliceRunWorld) => perSecondOf(80, world.paces.of(phoneNumberId), world.nowMs);

  test('ten of a slice that are one too many make it slower by a quarter, once', async () => {
    const world = worldOf(10);
    world.send = failingWith('refused', { code: 130429, retryAfterSeconds: 60 });
    await world.run();
    expect([world.posted.length, perSecond(world), world.count('changePace')]).toEqual([10, 60, 1]);
  });

  test.each([
    [100, 60],
    [99, 80],
    [undefined, 80],
  ])('a usage of %s leaves %i a second, and the message sent', async (usagePercent, left) => {
    const world = worldOf();
    world.send = async () => (usagePercent === undefined ? {} : { usagePercent });
    await world.run();
    expect([perSecond(world), world.outcomes(1)]).toEqual([left, ['sent']]);
  });

  test('what cannot be written down is no reason to lose the message', async () => {
    const world = worldOf();
    world.send = failsFirst(1, throttled);
    world.faultOf = (name) => (name === 'changePace' ? 'fails' : undefined);
    await world.run();
    expect(world.outcomes(1)).toEqual(['sent']);
    expect(world.facts('send.pace_failed')).toEqual([{ count: 1, error: 'Error' }]);
  });
});

describe('a refusal of the template concerns its whole dispatch (D46)', () => {
  test('132015: those that were refused wait, no recipient of it is called meanwhile, and they are sent when it goes on', async () => {
    const world = worldOf(20);
    world.send = failingWith('refused', { code: 132015 });
    await world.run();
    expect(world.posted.length).toBeLessThan(20);
    expect(world.outcomes(20)).toEqual(Array(20).fill('again'));
    world.holds.stored.clear();
    world.send = async () => ({});
    await world.runAll();
    expect(world.outcomes(20)).toEqual(Array(20).fill('sent'));
  });

  test('132016 stops it: the refused fail, with what the platform says, and so do those that were not called yet', async () => {
    const world = worldOf(60);
    const refusal = failingWith('refused', { code: 132016, userMessage: 'for its quality' });
    world.send = async (...posted) => await world.time.sleep(10).then(() => refusal(...posted));
    const stop = { state: 'failed', code: '132016', reason: 'for its quality' };
    await world.run();
    await world.run();
    expect(world.posted.length).toBeLessThan(60);
    expect([world.outcome(0), world.outcome(59)]).toEqual([stop, stop]);
    const ids = new Set(world.events.sent.map(({ id }) => id));
    expect([ids.size, world.events.sent[59]]).toMatchObject([60, { data: { code: '132016', reason: stop.reason } }]);
  });

  test('a message that is taken proves an end of its holds, once a slice; none does where nothing was held', async () => {
    const world = worldOf();
    await world.run();
    expect(world.count('changeHolds')).toBe(0);
    world.hold();
    world.rule(ended(templateScope, startMs, startMs));
    world.accept(1, { dispatchId: 'L' });
    world.send = failingWith('refused', { code: 131026 });
    await world.wait(1_000);
    await world.run('L');
    expect(world.holds.of(wabaId).unproven).toHaveProperty([templateScope]);
    world.accept(10, { dispatchId: 'K' });
    world.send = async () => ({});
    await world.run('K');
    expect([world.count('changeHolds'), world.holds.of(wabaId).unproven]).toEqual([1, {}]);
  });
});
