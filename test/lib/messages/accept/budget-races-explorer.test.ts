import { afterAll, beforeAll, expect, test } from 'vitest';
import { standingIn } from '../../../../lib/messages/dispatch/item.ts';
import { explore } from '../../../support/exploration.ts';
import { restoreTimers, stopTimers } from '../../../support/fake-timers.ts';
import {
  type Asked,
  afterOneMore,
  committedUnits,
  firstWorld,
  isSettled,
  limitUnits,
  runOverMs,
  sendUnits,
  successorsOf,
  type World,
} from './budget-races-model.ts';

/**
 * Explores every order in which sends of a client with a budget reserve, begin, take back and release, with or without
 * an Idempotency-Key. Calls fail or lose replies; processes die. Two sends do not fit the budget.
 */

beforeAll(stopTimers);
afterAll(restoreTimers);

const isSent = ({ dispatch }: World['requests'][number]) => standingIn(dispatch) === 'begun';

/** Throws when a promise of R57 is broken now, or would be once faults end. */
async function checkPromises(world: World): Promise<void> {
  checkNow(world);
  if (!isSettled(world)) return;
  const end = await afterOneMore(world);
  checkNow(end);
  for (const [place, request] of end.requests.entries()) {
    if (request.open === undefined || isSent(request)) continue;
    const { mayLeave, keyed: isKeyed, entry } = request;
    const mayStay = entry === undefined && (mayLeave === 'not given back' || (mayLeave === 'cut off' && !isKeyed));
    if (!mayStay) throw new Error(`request ${place} is not sent, and keeps what it had reserved`);
  }
}

function checkNow(world: World): void {
  const { requests } = world;
  for (const [place, request] of requests.entries()) {
    const { stop, open, answer } = request;
    if (isSent(request) && stop && open !== sendUnits)
      throw new Error(`request ${place} is sent, and nothing is reserved`);
    if (answer === 'over_budget' && isSent(request)) throw new Error(`request ${place} is refused, and sent`);
  }
  const stopping = requests.filter(({ stop }) => stop);
  const sentUnits = stopping.filter(isSent).length * sendUnits;
  if (sentUnits > limitUnits) throw new Error('sends have passed the limit together');
  if (stopping.length === requests.length && committedUnits(world) > limitUnits)
    throw new Error('more is reserved than there is');
}

const keyed: Asked = { keyed: true, stop: true };
const plain: Asked = { keyed: false, stop: true };
const warned: Asked = { keyed: false, stop: false };
const warnedByKey: Asked = { keyed: true, stop: false };

const scenarios: readonly {
  readonly requests: readonly Asked[];
  readonly faults: number;
  readonly waitsMs: readonly number[];
  readonly fewest: number;
  readonly codes: readonly string[];
}[] = [
  { requests: [plain, plain], faults: 3, waitsMs: [], fewest: 300, codes: ['over_budget'] },
  {
    requests: [keyed, keyed],
    faults: 2,
    waitsMs: [runOverMs, runOverMs],
    fewest: 1_000,
    codes: ['request_in_progress'],
  },
  { requests: [warned, warned], faults: 3, waitsMs: [], fewest: 1_000, codes: [] },
  { requests: [warnedByKey, warnedByKey], faults: 2, waitsMs: [runOverMs], fewest: 1_000, codes: [] },
  { requests: [plain, plain, plain], faults: 2, waitsMs: [], fewest: 400, codes: ['over_budget'] },
];

test.each(scenarios)(
  '$requests, $faults faults: no two sends pass the limit together, what is sent is reserved, and nothing else stays so (R57, D58)',
  { timeout: 900_000 },
  async ({ requests, faults, waitsMs, fewest, codes }) => {
    const met = new Set<string>();
    const states = await explore(firstWorld(requests, faults, waitsMs), {
      successorsOf,
      keyOf: (world) => JSON.stringify(world),
      check: async (world) => {
        for (const { answer } of world.requests) if (answer !== undefined) met.add(answer);
        await checkPromises(world);
      },
    });
    expect([...met]).toEqual(expect.arrayContaining(['200', 'dispatch_unavailable', ...codes]));
    expect(states).toBeGreaterThan(fewest);
  },
);
