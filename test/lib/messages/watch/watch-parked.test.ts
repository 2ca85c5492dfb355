import { describe, expect, test } from 'vitest';
import type { DispatchItemState, DispatchStop } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled, longestParkMs } from '../../../../lib/messages/dispatch/item-state.ts';
import type { Lot } from '../../../../lib/messages/dispatch/lots.ts';
import { type Hold, type Holds, inReviewCode, noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { claimLifeMs } from '../../../../lib/messages/send/deadlines.ts';
import { type WatchPorts, watchDispatches } from '../../../../lib/messages/watch/watch.ts';
import { type ParkedWatch, parkedWatchOf } from '../../../../lib/messages/watch/watch-message.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { MemoryHolds } from '../../../support/memory-holds.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { makeTemplate } from '../../../support/templates.ts';

const sinceMs = 1_800_000_000_000;
const head = makeDispatchHead({ acceptedAtMs: sinceMs - 60_000, total: 900 });
const parked = { code: 'template_paused', scope: 'template', sinceMs } as const;
const first = parkedWatchOf(head, sinceMs);
/** The first look records the pause that the client was told of. */
const toldOf = (fromMs: number) => ({ fromMs, code: 'template_paused', scope: 'template' }) as const;
const told = { ...JSON.parse(JSON.stringify(first)), told: toldOf(sinceMs) };
/** The dispatch was resumed a moment ago. */
const resumed = { ...told, resumedMs: sinceMs + 20_000 };

const scope = 'template:order_update/en_US';
const ofTemplate = opened(scope, { code: '132015', nowMs: sinceMs })(noHolds);
const inReview = opened(scope, { code: inReviewCode, nowMs: sinceMs, byReading: true })(noHolds);

interface Setting {
  readonly state?: DispatchItemState;
  readonly afterMs?: number;
  /** The template is paused at the platform by default. */
  readonly status?: string | 'missing' | 'unreachable';
  readonly stored?: { readonly status: string; readonly afterMs: number; readonly deleted?: boolean };
  readonly expiresAtMs?: number;
  readonly resumes?: boolean;
  readonly isThere?: boolean;
  /** The default is the hold of the paused template. */
  readonly holds?: Holds;
  readonly isDown?: boolean;
  readonly lots?: readonly Lot[];
}

interface Done {
  readonly later: [ParkedWatch, number][];
  readonly stops: DispatchStop[];
  readonly did: string[];
  /** These statuses were stored as readings. */
  readonly kept: (string | undefined)[];
}

/** Looks once at a parked dispatch, and returns everything that the look did. */
async function look(message: ParkedWatch, setting: Setting = {}) {
  const nowMs = () => sinceMs + (setting.afterMs ?? 20_000);
  const events = new MemoryEvents();
  const holds = new MemoryHolds(nowMs);
  holds.stored.set(head.wabaId, setting.holds ?? ofTemplate);
  const done: Done = { later: [], stops: [], did: [], kept: [] };
  const ports: WatchPorts = {
    events,
    spend: noCosts.spend,
    parked: { ...parkedPorts(setting, done), holds },
    nowMs,
    log: (event) => void done.did.push(event),
  };
  const failed = await watchDispatches([{ messageId: 'm', body: JSON.stringify(message) }], ports);
  return { failed, ...done, events: events.sent, holds: holds.of(head.wabaId).holds, all: holds.of(head.wabaId) };
}

function parkedPorts(setting: Setting, done: Done): Omit<WatchPorts['parked'], 'holds'> {
  const { status = 'PAUSED', isThere = true, expiresAtMs, lots } = setting;
  const dispatch = {
    head: makeDispatchHead({ ...head, expiresAtMs: expiresAtMs ?? head.expiresAtMs }),
    lots,
  };
  return {
    queue: { sendLater: async (copy, seconds) => void done.later.push([copy, seconds]) },
    states: statesOf(setting, done),
    isDown: async () => setting.isDown ?? false,
    dispatchOf: async () => (isThere ? dispatch : undefined),
    templates: { storedFacts: async ([key = '']) => new Map(factsOf(setting).map((fact) => [key, fact])) },
    keepReading: async (_, template) => void done.kept.push(template?.status),
    platformTemplates: {
      find: async () => {
        done.did.push('ask');
        if (status === 'unreachable') throw new PlatformFailure('ambiguous');
        return status === 'missing' ? undefined : makeTemplate({ status });
      },
    },
  };
}

function statesOf(
  { state = { parked, pausedFromMs: sinceMs }, resumes = true }: Setting,
  { stops, did }: Done,
): WatchPorts['parked']['states'] {
  return {
    of: async () => new Map([[head.dispatchId, state]]),
    stop: async (_, stop) => stops.push(stop) > 0,
    resume: async (_, { sinceMs: since, goesOn }) => {
      did.push(`resume ${since - sinceMs}${goesOn ? ', going on' : ''}`);
      return resumes;
    },
    endPause: async () => did.push('endPause') > 0 && resumes,
  };
}

function factsOf({ stored }: Setting) {
  if (stored === undefined) return [];
  const { status, afterMs, deleted = false } = stored;
  const at = { readAtMs: sinceMs + afterMs, sinceMs: 0, asSent: false };
  return [{ wabaId: head.wabaId, template: makeTemplate({ status }), deleted, ...at }];
}

const types = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

describe('a look at a parked dispatch (D46)', () => {
  test('the first one sends an event, and does not ask the platform', async () => {
    const { later, events, did } = await look(first, { afterMs: 3_000 });
    expect(events).toEqual([
      {
        id: expect.stringMatching(/^evt_/),
        clientId: head.clientId,
        type: 'dispatch.parked',
        timestampMs: sinceMs,
        data: {
          dispatch_id: head.dispatchId,
          did: head.did,
          template: { name: 'order_update', language: 'en_US' },
          accepted_at: new Date(head.acceptedAtMs).toISOString(),
          ...{ code: 'template_paused', scope: 'template' },
          parked_at: new Date(sinceMs).toISOString(),
          expires_at: new Date(sinceMs + longestParkMs).toISOString(),
        },
      },
    ]);
    expect([later, did]).toEqual([[[told, 15]], []]);
  });

  test('of which nothing may leave for a while comes again once it may, in a quarter of an hour at most (D56)', async () => {
    const opensIn = async (seconds: number) => {
      const fromMs = sinceMs + 20_000 + seconds * 1_000;
      const { later } = await look(told, { lots: [{ until: 900, open: [[fromMs, fromMs + 3_600_000]] }] });
      return later.map(([, delaySeconds]) => delaySeconds);
    };
    expect([await opensIn(60), await opensIn(86_400)]).toEqual([[65], [900]]);
  });

  test('comes again while the template is paused, and asks the platform ever more rarely', async () => {
    const { later, events, did } = await look(told, { afterMs: 20_000 });
    expect([later, events, did]).toEqual([[[{ ...told, askedAtMs: sinceMs + 20_000 }, 15]], [], ['ask']]);
    const asked = { ...told, askedAtMs: sinceMs + 400_000 };
    expect(await look(asked, { afterMs: 499_000 })).toMatchObject({ later: [[asked, 120]], did: [] });
    expect((await look(asked, { afterMs: 540_000 })).did).toEqual(['ask']);
    const longAsked = { ...told, askedAtMs: sinceMs + 10_000_000 };
    expect((await look(longAsked, { afterMs: 10_599_999 })).did).toEqual([]);
    expect((await look(longAsked, { afterMs: 10_600_000 })).did).toEqual(['ask']);
  });

  test('whose template is back: the dispatch goes on, and its client is told when a message was taken', async () => {
    const { later, events, did } = await look(told, { status: 'APPROVED' });
    expect([did, events, later]).toEqual([['ask', 'hold.ended', 'resume 0', 'dispatch.resumed'], [], [[resumed, 15]]]);
    const unproven = await look(resumed, { state: { pausedFromMs: sinceMs }, afterMs: 35_000 });
    expect([unproven.later, unproven.events, unproven.did]).toEqual([[[resumed, 15]], [], []]);
    const proven = await look(resumed, { state: {}, afterMs: 50_000 });
    expect([proven.later, proven.did, types(proven.events)]).toEqual([[], [], ['dispatch.resumed']]);
    expect(proven.events[0]).toMatchObject({
      data: {
        dispatch_id: head.dispatchId,
        code: 'template_paused',
        scope: 'template',
        parked_at: new Date(sinceMs).toISOString(),
      },
    });
  });

  test('of a dispatch that no worker has parked again for ten minutes: it goes on, sent or not', async () => {
    const state = { pausedFromMs: sinceMs };
    const before = await look(resumed, { state, afterMs: 619_999 });
    expect([before.later.length, before.did, before.events]).toEqual([1, [], []]);
    const { later, did, events } = await look(resumed, { state, afterMs: 620_000 });
    expect([later, did, types(events)]).toEqual([[], ['endPause'], ['dispatch.resumed']]);
    // Only open hours count, because a message can meet the hold then; the night between proves nothing (D56).
    const opensAgainMs = sinceMs + 50_000_000;
    const lots = [
      {
        until: 900,
        open: [[sinceMs - 60_000, sinceMs + 120_000] as const, [opensAgainMs, opensAgainMs + 900_000] as const],
      },
    ];
    const overnight = await look(resumed, { state, lots, afterMs: 40_000_000 });
    expect([overnight.later, overnight.did, overnight.events]).toEqual([[[resumed, 900]], [], []]);
    const early = await look(resumed, { state, lots, afterMs: 50_499_999 });
    expect([early.later.length, early.did]).toEqual([1, []]);
    expect((await look(resumed, { state, lots, afterMs: 50_500_000 })).did).toEqual(['endPause']);
  });

  test('by a reading that is younger than the waiting, without asking', async () => {
    const young = await look(told, { stored: { status: 'APPROVED', afterMs: 1 } });
    expect(young.did).toEqual(['hold.ended', 'resume 0', 'dispatch.resumed']);
    expect(young.later).toEqual([[resumed, 15]]);
    for (const stored of [
      { status: 'APPROVED', afterMs: 0 },
      { status: 'PAUSED', afterMs: 1 },
      { status: 'APPROVED', afterMs: 1, deleted: true },
    ]) {
      expect((await look(told, { stored })).did).toEqual(['ask']);
    }
  });

  test('by a reading that is younger than the hold: one from before another hold of the template ends nothing', async () => {
    const again = opened('template:order_update/en_US', { code: '132015', nowMs: sinceMs + 10_000 })(noHolds);
    const asked = { ...told, askedAtMs: sinceMs + 19_000 };
    const old = await look(asked, { holds: again, stored: { status: 'APPROVED', afterMs: 10_000 } });
    expect([old.did, Object.keys(old.holds)]).toEqual([[], ['template:order_update/en_US']]);
    const young = await look(asked, { holds: again, stored: { status: 'APPROVED', afterMs: 10_001 } });
    expect([young.did, young.holds]).toEqual([['hold.ended', 'resume 0', 'dispatch.resumed'], {}]);
  });

  test.each([
    ['DISABLED', '132016', ofTemplate],
    ['missing', '132001', ofTemplate],
    ['PENDING_DELETION', '132001', ofTemplate],
    ...['unreachable', 'PENDING', 'REJECTED', 'IN_APPEAL'].map((status) => [status, undefined, ofTemplate] as const),
    ['DISABLED', '132016', inReview],
    ['missing', 'template_deleted', inReview],
    ['REJECTED', 'template_changed', inReview],
    ...['unreachable', 'PENDING', 'PAUSED', 'IN_APPEAL'].map((status) => [status, undefined, inReview] as const),
  ] as const)('whose template is %s: the rest fails by %s, or waits', async (status, code, holds) => {
    const { stops, later, events } = await look(told, { status, holds });
    const reason = code === 'template_changed' ? { reason: expect.stringMatching(/not APPROVED: .*REJECTED/) } : {};
    const stop = { state: 'failed', code, ...reason, atMs: sinceMs + 20_000 };
    expect([stops, later.length, events]).toEqual(code === undefined ? [[], 1, []] : [[stop], 0, []]);
  });

  test('whose template is approved after its review: the reading is kept, and what waits is judged again', async () => {
    const holds = opened('template:order_update/en_US', { code: inReviewCode, nowMs: sinceMs, byReading: true })(
      noHolds,
    );
    const { did, kept, all } = await look(told, { status: 'APPROVED', holds });
    expect([did, kept]).toEqual([['ask', 'hold.ended', 'resume 0', 'dispatch.resumed'], ['APPROVED']]);
    expect(all).toEqual({ ...noHolds, reviewedMs: { 'template:order_update/en_US': sinceMs + 20_000 } });
  });

  test('ends what waits after a day, or with its time to live', async () => {
    const expired = { state: 'expired', code: 'template_paused' };
    expect((await look(told, { afterMs: longestParkMs - 1 })).stops).toEqual([]);
    expect((await look(told, { afterMs: longestParkMs, status: 'APPROVED' })).stops).toMatchObject([expired]);
    expect((await look(told, { expiresAtMs: sinceMs + 20_001 })).stops).toEqual([]);
    expect((await look(told, { expiresAtMs: sinceMs + 20_000 })).stops).toMatchObject([expired]);
  });

  test('of a dispatch that is not parked yet: again, until the worker that wanted to cannot be running', async () => {
    for (const state of [{}, { parked: { ...parked, sinceMs: sinceMs - 1 } }]) {
      const early = await look(first, { state, afterMs: claimLifeMs - 1 });
      expect([early.later.map(([copy]) => copy), early.events]).toEqual([[first], []]);
      const late = await look(first, { state, afterMs: claimLifeMs });
      expect([late.later, late.events]).toEqual([[], []]);
    }
  });

  test('that was told and is parked no more: its ender may have died before the event', async () => {
    const again = { parked: { ...parked, sinceMs: sinceMs + 1 } };
    for (const state of [{}, again, { ...again, pausedFromMs: sinceMs + 1 }]) {
      const { later, events } = await look(told, { state });
      expect([later, types(events)]).toEqual([[], ['dispatch.resumed']]);
    }
    const undecided = await look(told, { status: 'APPROVED', resumes: false });
    expect([undecided.later.map(([copy]) => copy.resumedMs), undecided.events]).toEqual([[undefined], []]);
    const died = await look(told, { state: { pausedFromMs: sinceMs } });
    expect([died.later, died.events]).toEqual([[[resumed, 15]], []]);
  });

  test('that was resumed and parked again at once is the last: the next waiting is of the same pause, and has a watcher', async () => {
    const state = { parked: { ...parked, sinceMs: sinceMs + 33_000 }, pausedFromMs: sinceMs };
    expect(await look(resumed, { state, afterMs: 40_000 })).toMatchObject({ later: [], events: [], did: [] });
  });

  test('that is parked within a pause tells nothing, and waits as long as the pause was before it (D46)', async () => {
    const since = sinceMs + 33_000;
    const state = { parked: { ...parked, sinceMs: since }, pausedFromMs: sinceMs };
    const next = { ...first, sinceMs: since };
    const silent = { ...next, told: toldOf(sinceMs) };
    const begun = await look(next, { state, afterMs: 36_000 });
    expect([begun.later, begun.events, begun.did]).toEqual([[[silent, 15]], [], []]);
    const early = await look(silent, { state, status: 'APPROVED', afterMs: 65_999 });
    expect([early.later, early.did]).toEqual([[[silent, 15]], []]);
    const later = await look(silent, { state, status: 'APPROVED', afterMs: 66_000 });
    expect(later.did).toEqual(['ask', 'hold.ended', 'resume 33000', 'dispatch.resumed']);
    const proven = await look({ ...silent, resumedMs: sinceMs + 66_000 }, { state: {}, afterMs: 90_000 });
    expect(proven.events).toEqual((await look(resumed, { state: {}, afterMs: 90_000 })).events);
  });

  test('another waiting of a long pause takes ten minutes at most', async () => {
    const since = sinceMs + 40_000_000;
    const state = { parked: { ...parked, sinceMs: since }, pausedFromMs: sinceMs };
    const silent = { ...first, sinceMs: since, told: toldOf(sinceMs) };
    const at = async (afterMs: number) => (await look(silent, { state, afterMs: 40_000_000 + afterMs })).did;
    expect([await at(599_999), await at(600_000)]).toEqual([[], ['ask']]);
  });

  test('in whose pause a message was taken after all: this waiting is a pause of its own, and told', async () => {
    const since = sinceMs + 33_000;
    const state = { parked: { ...parked, sinceMs: since } };
    const silent = { ...first, sinceMs: since, told: toldOf(sinceMs) };
    const { later, events } = await look(silent, { state, afterMs: 50_000 });
    expect([later, types(events)]).toEqual([[[{ ...silent, told: toldOf(since) }, 15]], ['dispatch.parked']]);
  });

  test('of a pause of several waitings ends with a day after the first', async () => {
    const state = { parked: { ...parked, sinceMs: sinceMs + longestParkMs - 60_000 }, pausedFromMs: sinceMs };
    const silent = { ...first, sinceMs: state.parked.sinceMs, told: toldOf(sinceMs) };
    expect((await look(silent, { state, afterMs: longestParkMs - 1 })).stops).toEqual([]);
    const { stops } = await look(silent, { state, afterMs: longestParkMs });
    expect(stops).toMatchObject([{ state: 'expired', code: 'template_paused' }]);
  });

  const ofWaba = (from: Holds = noHolds) => opened('waba', { code: '131042', nowMs: sinceMs })(from);
  const account = { code: '131042', scope: 'waba', sinceMs } as const;

  test('that its WABA holds asks nothing of the template: workers ask with a message, and it goes on when nothing holds it', async () => {
    const state = { parked: account, pausedFromMs: sinceMs };
    const mine = { ...first, told: { fromMs: sinceMs, code: '131042', scope: 'waba' } } as const;
    const held = await look(mine, { state, holds: ofWaba(), status: 'APPROVED' });
    expect([held.later, held.did]).toEqual([[[mine, 15]], []]);
    const free = await look(mine, { state, holds: noHolds });
    expect([free.did, free.later]).toEqual([
      ['resume 0', 'dispatch.resumed'],
      [[{ ...mine, resumedMs: sinceMs + 20_000 }, 15]],
    ]);
    const goesOn = await look(mine, { state: { ...state, parked: { ...account, goesOn: true } }, holds: noHolds });
    expect(goesOn.did).toEqual(['resume 0, going on', 'dispatch.resumed']);
    const { events } = await look({ ...mine, resumedMs: sinceMs }, { state: {}, holds: noHolds });
    expect(events).toMatchObject([{ type: 'dispatch.resumed', data: { code: '131042', scope: 'waba' } }]);
    const expired = await look(mine, { state, holds: ofWaba(), afterMs: longestParkMs });
    expect(expired.stops).toMatchObject([{ state: 'expired', code: '131042' }]);
  });

  test('of whose hold no message has asked for ten minutes, for all are elsewhere: it goes on, so that the next one asks', async () => {
    const state = { parked: account, pausedFromMs: sinceMs };
    const mine = { ...first, told: { fromMs: sinceMs, code: '131042', scope: 'waba' } } as const;
    const due = ofWaba();
    expect((await look(mine, { state, holds: due, afterMs: 610_000 })).did).toEqual([]);
    const { did, holds, events } = await look(mine, { state, holds: due, afterMs: 610_001 });
    expect([did, Object.keys(holds), events]).toEqual([['resume 0', 'dispatch.resumed'], ['waba'], []]);
    const waba = { ...due.holds.waba, askedUntilMs: sinceMs + 60_000 } as Hold;
    const asked = { ...due, holds: { waba } };
    expect((await look(mine, { state, holds: asked, afterMs: 610_001 })).did).toEqual([]);
  });

  test('that its WABA holds as well goes on only when both are over', async () => {
    const both = ofWaba(ofTemplate);
    const { did, holds } = await look(told, { holds: both, status: 'APPROVED' });
    expect([did, Object.keys(holds)]).toEqual([['ask', 'hold.ended'], ['waba']]);
  });

  test('while the platform as a whole is down nothing goes on, and nothing is asked', async () => {
    const { did, later } = await look(told, { isDown: true, holds: noHolds });
    expect([did, later]).toEqual([[], [[told, 15]]]);
  });

  test('that is parked again in the moment in which its pause would end is left to the next watcher', async () => {
    const state = { pausedFromMs: sinceMs };
    const { did, events, later } = await look(resumed, { state, afterMs: 620_000, resumes: false });
    expect([did, events, later]).toEqual([['endPause'], [], []]);
  });

  test('of a dispatch that was stopped, or is there no more, is the last', async () => {
    const nothing = { failed: [], later: [], stops: [], events: [] };
    expect(await look(told, { state: { stop: cancelled(1) } })).toMatchObject(nothing);
    expect(await look(first, { isThere: false })).toMatchObject({ ...nothing, did: ['dispatch.watch_ended'] });
  });

  test('told twice each event has one id, and another waiting of the same dispatch has others', async () => {
    const ids = new Set<string | undefined>();
    for (const since of [sinceMs, sinceMs, sinceMs + 1]) {
      const state = { parked: { ...parked, sinceMs: since }, pausedFromMs: since };
      ids.add((await look({ ...first, sinceMs: since }, { state })).events[0]?.id);
      ids.add((await look({ ...told, sinceMs: since, told: toldOf(since) }, { state: {} })).events[0]?.id);
    }
    expect(ids.size).toBe(4);
  });
});
