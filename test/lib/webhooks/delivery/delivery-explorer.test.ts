import { beforeAll, expect, test, vi } from 'vitest';
import type { DeliveryState } from '../../../../lib/webhooks/delivery/delivery-state.ts';
import { encodeWake, type Pending } from '../../../../lib/webhooks/delivery/pending.ts';
import { retryWaitsSeconds } from '../../../../lib/webhooks/delivery/retry.ts';
import { encodeEvent } from '../../../../lib/webhooks/event-queue.ts';
import { makeEvent } from '../../../support/delivery-world.ts';
import { explore } from '../../../support/exploration.ts';
import { thorough } from '../../../support/thorough.ts';
import type { Message, StateItem } from './delivery-model.ts';
import { checkPromises, type Told } from './delivery-promises.ts';
import { keyOf, type Scenario, successorsOf, type World } from './delivery-space.ts';

/**
 * Explores every order of two delivery runs on one or two clients' events, with faults, repeated and early messages,
 * any answers of receivers, and new configurations. delivery-state-store.adapter.test.ts proves the store's condition.
 * An idle world has wakes for waiting events.
 */
const startMs = 1_800_000_000_000;

beforeAll(() => {
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
});

const fresh = (clientId: number, number: number): Told => ({
  event: makeEvent(clientId, number),
  attempts: 0,
  firstSeenMs: startMs,
});

/** One attempt of the event has failed. */
const waiting: Told = { event: makeEvent(1, 0), attempts: 1, firstSeenMs: startMs - 5_000 };

/** The event has two attempts left. */
const nearlyGivenUp: Told = {
  event: makeEvent(1, 0),
  attempts: 6,
  firstSeenMs: startMs - 1_000 * retryWaitsSeconds.slice(0, 6).reduce((sum, seconds) => sum + seconds, 0),
};

const isFresh = ({ attempts }: Told) => attempts === 0;
const pendingOf = (told: Told, pausedMs: number): Pending => ({ ...told, dueMs: startMs + pausedMs });

/** New events are in the queue; each waiting event has a wake, and each double has another. */
function messagesOf(told: readonly Told[], doubles: number, pausedMs: number): Message[] {
  const wakes = told.filter((each) => !isFresh(each)).map(({ event }) => encodeWake(event.clientId));
  const doubled = wakes.flatMap((wake) => Array.from({ length: doubles }, () => wake));
  const bodies = [...told.filter(isFresh).map(({ event }) => encodeEvent(event)), ...wakes, ...doubled];
  return bodies.map((body, id) => ({ id, body, visibleAtMs: startMs + pausedMs, held: false }));
}

function stateItem(failing: Partial<DeliveryState> | undefined, pausedMs: number): StateItem {
  const noted = failing === undefined ? {} : { ...failing, lastFailureMs: startMs - 5_000 };
  const pause = pausedMs === 0 ? {} : { pausedUntilMs: startMs + pausedMs };
  return { version: 1, writer: 'earlier', triedVersion: 1, wakeAtMs: startMs + pausedMs, ...pause, ...noted };
}

const notAnswered = { fault: 'timeout' };
type Bounds = Pick<World, 'runsLeft' | 'faultsLeft' | 'badAnswersLeft' | 'changesLeft'>;

const failingReceiver = {
  told: [waiting],
  badAnswers: [{ status: 503 }],
  meets: ['taken', 'told'],
  batchSize: 1,
  bounds: { runsLeft: 3, faultsLeft: 1, badAnswersLeft: 2, changesLeft: 0 },
  quick: { runsLeft: 2 },
} as const;

const scenarios: readonly (Scenario & {
  readonly name: string;
  readonly told: readonly Told[];
  /** The queue has this many copies of the wake. */
  readonly doubles?: number;
  /** The receiver is paused for this long, and its events are due then. */
  readonly pausedMs?: number;
  /** The receiver has failed before. */
  readonly failing?: Pick<DeliveryState, 'failingSinceMs' | 'consecutiveFailures'>;
  readonly meets: readonly string[];
  readonly bounds: Bounds;
  /** The quick run takes a second within these bounds. */
  readonly quick?: Partial<Bounds>;
})[] = [
  {
    name: 'an event',
    told: [fresh(1, 0)],
    badAnswers: [notAnswered],
    meets: ['taken'],
    batchSize: 1,
    bounds: { runsLeft: 2, faultsLeft: 2, badAnswersLeft: 1, changesLeft: 0 },
    quick: { faultsLeft: 1 },
  },
  {
    name: 'an event before its last two attempts',
    told: [nearlyGivenUp],
    badAnswers: [{ status: 429, retryAfter: '30' }],
    meets: ['taken', 'given up'],
    batchSize: 1,
    bounds: { runsLeft: 4, faultsLeft: 1, badAnswersLeft: 3, changesLeft: 0 },
    quick: { runsLeft: 3, badAnswersLeft: 2 },
  },
  {
    name: 'one for a receiver that is gone',
    told: [fresh(1, 0)],
    badAnswers: [{ status: 410 }],
    meets: ['taken', 'switched off'],
    batchSize: 1,
    bounds: { runsLeft: 2, faultsLeft: 1, badAnswersLeft: 2, changesLeft: 1 },
    quick: { faultsLeft: 0, badAnswersLeft: 1 },
  },
  {
    name: 'two events of one client',
    told: [fresh(1, 0), fresh(1, 1)],
    badAnswers: [{ status: 503 }],
    meets: ['taken'],
    batchSize: 2,
    bounds: { runsLeft: 2, faultsLeft: 1, badAnswersLeft: 0, changesLeft: 0 },
    quick: { faultsLeft: 0, badAnswersLeft: 2 },
  },
  {
    name: 'a fresh event beside one that waits',
    told: [waiting, fresh(1, 1)],
    badAnswers: [{ status: 503 }],
    meets: ['taken'],
    batchSize: 2,
    bounds: { runsLeft: 2, faultsLeft: 1, badAnswersLeft: 0, changesLeft: 0 },
    quick: { faultsLeft: 0, badAnswersLeft: 1 },
  },
  {
    name: 'one that waits, and two wakes',
    told: [waiting],
    doubles: 1,
    badAnswers: [notAnswered],
    meets: ['taken'],
    batchSize: 1,
    bounds: { runsLeft: 3, faultsLeft: 1, badAnswersLeft: 1, changesLeft: 0 },
    quick: { faultsLeft: 0 },
  },
  {
    name: 'two failures in 15 minutes',
    ...failingReceiver,
    failing: { failingSinceMs: startMs - 900_000, consecutiveFailures: 2 },
    bounds: { ...failingReceiver.bounds, changesLeft: 1 },
    quick: { runsLeft: 2, changesLeft: 0 },
  },
  {
    name: 'one failure, 15 minutes ago',
    ...failingReceiver,
    failing: { failingSinceMs: startMs - 900_000, consecutiveFailures: 1 },
  },
  {
    name: 'five failures in ten minutes',
    ...failingReceiver,
    failing: { failingSinceMs: startMs - 600_000, consecutiveFailures: 5 },
  },
  {
    name: 'one that waits for a paused receiver, and a new configuration',
    told: [waiting],
    pausedMs: 300_000,
    failing: { failingSinceMs: startMs - 60_000, consecutiveFailures: 7 },
    badAnswers: [{ status: 503 }],
    meets: ['taken'],
    batchSize: 2,
    bounds: { runsLeft: 2, faultsLeft: 1, badAnswersLeft: 1, changesLeft: 1 },
    quick: { faultsLeft: 0 },
  },
  {
    name: 'two clients, one never answers',
    told: [fresh(1, 0), fresh(2, 1)],
    badAnswers: [{ status: 500 }],
    hangingClient: 1,
    meets: ['taken'],
    batchSize: 2,
    bounds: { runsLeft: 1, faultsLeft: 0, badAnswersLeft: 0, changesLeft: 0 },
  },
];

test.each(scenarios)(
  '$name: none is dropped before its time, each attempt is the same event, and no client waits for another (D34, R41 to R43)',
  { timeout: 900_000 },
  async ({ told, doubles = 0, pausedMs = 0, failing, meets, bounds, quick, ...scenario }) => {
    const messages = messagesOf(told, doubles, pausedMs);
    const list = told.filter((each) => !isFresh(each)).map((each) => pendingOf(each, pausedMs));
    const first: World = {
      ...{ messages, list, nextId: messages.length, had: {}, gone: [], runs: [], late: [], failings: [] },
      states: list.length === 0 ? {} : { 1: stateItem(failing, pausedMs) },
      configs: { 1: { version: 1, active: true }, 2: { version: 1, active: true } },
      recorded: told.filter(({ attempts }) => attempts > 0).map(({ event }) => event.id),
      nowMs: startMs,
      started: 0,
      owesWake: false,
      ...bounds,
      ...(thorough ? {} : quick),
    };
    const met = new Set<string>();
    const states = await explore(first, {
      successorsOf: (world) => successorsOf(world, scenario),
      keyOf,
      check: async (world) => {
        const { had, configs } = world;
        if (Object.values(had).some(({ taken }) => taken)) met.add('taken');
        else if (world.messages.length + world.list.length === 0)
          met.add(configs[1]?.active ? 'given up' : 'switched off');
        if (world.failings.length > 0) met.add('told');
        await checkPromises(world, told, { failedBefore: failing?.consecutiveFailures ?? 0, faults: first.faultsLeft });
      },
    });
    // An exploration that reaches too little must fail.
    expect([...met].sort()).toEqual([...meets].sort());
    expect(states).toBeGreaterThan(500);
  },
);
