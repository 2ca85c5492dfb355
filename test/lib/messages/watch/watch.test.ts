import { describe, expect, test } from 'vitest';
import type { OutcomeCounts } from '../../../../lib/messages/report/outcome.ts';
import { type DispatchProgress, type WatchPorts, watchDispatches } from '../../../../lib/messages/watch/watch.ts';
import { nextLookSeconds, type WatchMessage } from '../../../../lib/messages/watch/watch-message.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { noCosts } from '../../../support/no-costs.ts';

const startMs = 1_800_000_000_000;
const head = makeDispatchHead({
  throughputPerSecond: 80,
  acceptedAtMs: startMs,
  campaignId: 10,
  attends: { waitTime: -1 },
  total: 900,
});
const watched: WatchMessage = {
  version: 1,
  kind: 'running',
  dispatchId: head.dispatchId,
  clientId: 1001,
  acceptedAtMs: startMs,
  final: [],
};
const counts: OutcomeCounts = {
  pending: 0,
  held: 1,
  sent: 500,
  delivered: 300,
  read: 90,
  failed: 7,
  expired: 1,
  unknown: 2,
};

function world(progress: DispatchProgress | undefined) {
  const asked: [string, readonly number[]][] = [];
  const later: [WatchMessage, number][] = [];
  const events = new MemoryEvents();
  const logged: string[] = [];
  return {
    asked,
    later,
    events,
    logged,
    ports: {
      progressOf: async (dispatchId: string, final: readonly number[]) => {
        asked.push([dispatchId, final]);
        return progress;
      },
      queue: { sendLater: async (message: WatchMessage, seconds: number) => void later.push([message, seconds]) },
      events,
      // This watch does not use the member.
      spend: noCosts.spend,
      parked: undefined as unknown as WatchPorts['parked'],
      nowMs: () => startMs + 80_000,
      log: (event: string) => void logged.push(event),
    },
  };
}

const delivery = (message: unknown, messageId = 'message') => ({ messageId, body: JSON.stringify(message) });

describe('a look at a dispatch (D41)', () => {
  test('of which something is pending: later again, with what is final by now', async () => {
    const { ports, asked, later, events } = world({ head, finalPartitions: [0, 2] });
    expect(await watchDispatches([delivery({ ...watched, final: [2] })], ports)).toEqual([]);
    expect(asked).toEqual([[head.dispatchId, [2]]]);
    expect(later).toEqual([[{ ...watched, final: [0, 2] }, 8]]);
    expect(events.sent).toEqual([]);
  });

  test('that has ended: told with its counts', async () => {
    const { ports, later, events } = world({ head, finalPartitions: [0, 1, 2, 3], counts });
    expect(await watchDispatches([delivery(watched)], ports)).toEqual([]);
    expect(later).toEqual([]);
    expect(events.sent).toEqual([
      {
        id: expect.stringMatching(/^evt_/),
        clientId: 1001,
        type: 'dispatch.completed',
        timestampMs: startMs + 80_000,
        data: {
          dispatch_id: head.dispatchId,
          did: head.did,
          template: { name: 'order_update', language: 'en_US' },
          campaign_id: 10,
          attends: { waitTime: -1 },
          accepted_at: new Date(startMs).toISOString(),
          total: 901,
          counts,
        },
      },
    ]);
  });

  test('told twice it has one id, also when more is known by then', async () => {
    const { ports, events } = world({ head, finalPartitions: [], counts });
    await watchDispatches([delivery(watched)], ports);
    await watchDispatches([delivery(watched)], { ...ports, nowMs: () => startMs + 1 });
    expect(new Set(events.sent.map(({ id }) => id)).size).toBe(1);
  });

  test('that is there no more is given up', async () => {
    const { ports, later, events, logged } = world(undefined);
    expect(await watchDispatches([delivery(watched)], ports)).toEqual([]);
    expect([later, events.sent, logged]).toEqual([[], [], ['dispatch.watch_ended']]);
  });

  test('that fails comes again, alone', async () => {
    const { ports, events } = world({ head, finalPartitions: [], counts });
    const progressOf = async (dispatchId: string, final: readonly number[]) => {
      if (dispatchId !== head.dispatchId) throw new Error('no answer');
      return await ports.progressOf(dispatchId, final);
    };
    const deliveries = [
      delivery({ ...watched, dispatchId: 'other' }, 'unanswered'),
      delivery({ ...watched, version: 2 }, 'later version'),
      { messageId: 'unreadable', body: '{' },
      delivery(watched, 'good'),
    ];
    expect(await watchDispatches(deliveries, { ...ports, progressOf })).toEqual([
      'unanswered',
      'later version',
      'unreadable',
    ]);
    expect(events.sent).toHaveLength(1);
    events.broken = true;
    expect(await watchDispatches([delivery(watched)], ports)).toEqual(['message']);
  });
});

test.each([
  [0, 5],
  [50_000, 5],
  [51_000, 6],
  [3_600_000, 360],
  [86_400_000, 900],
])('a dispatch that is %i ms old is looked at again in %i s', (ageMs, seconds) => {
  expect(nextLookSeconds(watched, startMs + ageMs)).toBe(seconds);
});

test.each([
  ['closed for days: not before a quarter of an hour', 3_600_000 + 60_000, 900],
  ['closed for a minute: once it opens', 86_400_000 - 60_000, 65],
  ['just opened, whatever its age', 86_400_000 + 1_000, 5],
  ['open for an hour', 86_400_000 + 3_600_000, 360],
  ['over, which opens no more: by its age', 200_000_000, 900],
])('a dispatch with a time of its own that is %s (D56)', (_, atMs, seconds) => {
  const open = [
    [startMs, startMs + 3_600_000],
    [startMs + 86_400_000, startMs + 86_400_000 + 7_200_000],
  ] as const;
  const lots = [
    { until: 1, open: open.slice(0, 1) },
    { until: 2, open: open.slice(1) },
  ];
  expect(nextLookSeconds({ ...watched, lots }, startMs + atMs)).toBe(seconds);
});
