import { expect, test } from 'vitest';
import { thorough } from '../../../../support/thorough.ts';
import { exploreSlices, type Scenario } from './slice-explorer.ts';
import { checkPromises } from './slice-promises.ts';

/**
 * Explores every state of two workers, their store, the platform, its receipts and an operator (R13, R14, D25, D29,
 * D34, D39, D41, D53): calls fail or take effect unheard, twice or late; runs are killed; deliveries repeat.
 */

interface Named extends Scenario {
  /** The exploration must reach these events, or it proves nothing. */
  readonly sees: readonly string[];
}

const told = ['accepted', 'throttled_yet_taken'] as const;
const scenarios: readonly Named[] = [
  {
    name: 'one recipient, two workers',
    slices: [1],
    faults: thorough ? 2 : 1,
    deliveries: 3,
    waits: 1,
    // The second of two faults doubles the copy that the first fault has throttled.
    sees: ['claim lands_late', 'land', 'endForTheDead ok', thorough ? 'queueAgain repeated' : 'queueAgain ok'],
  },
  {
    name: 'a message that the platform holds',
    slices: [1],
    faults: 1,
    deliveries: 2,
    platform: ['held', 'throttled'],
    effects: ['fails', 'reply_lost'],
    sees: ['call held', 'tell fails'],
  },
  { name: 'two recipients of one slice', slices: [2], faults: 1, deliveries: 3, waits: 1, sees: ['call throttled'] },
  {
    name: 'two slices of one recipient',
    slices: [1, 1],
    faults: 1,
    deliveries: 2,
    effects: ['reply_lost'],
    platform: ['accepted', 'throttled'],
    sees: ['end reply_lost', 'queueAgain ok', 'reappear'],
  },
  {
    name: 'a dispatch that its acceptance takes back',
    slices: [1],
    faults: 1,
    deliveries: 3,
    waits: 1,
    withdraw: true,
    sees: ['withdraw', 'claim lands_late'],
  },
  { name: 'a dispatch that is stopped', slices: [1], faults: 1, deliveries: 3, waits: 1, stop: true, sees: ['stop'] },
  {
    name: 'what an operator settles by hand',
    slices: [1],
    faults: 1,
    deliveries: 2,
    waits: 1,
    operator: 2,
    platform: ['accepted', 'lost_before', 'lost_after'],
    sees: ['findMessage ok', 'settle ok', 'settle lands_late', 'endForTheDead ok'],
  },
  {
    name: 'a run that stalls, is taken for dead, and ends late',
    slices: [1],
    faults: 1,
    deliveries: 2,
    waits: 1,
    stalls: true,
    receipts: 1,
    platform: thorough ? ['accepted', 'held', 'throttled', 'lost_after'] : ['accepted', 'held'],
    sees: ['endForTheDead ok', 'settle ok', 'settle lands_late', 'tell fails', 'tellReceipts ok', 'crash'],
  },
  {
    name: 'a run that ends late and dies, while another has acknowledged, and no receipt comes',
    slices: [1],
    faults: 1,
    deliveries: 2,
    waits: 1,
    stalls: true,
    platform: ['accepted', 'held'],
    effects: ['fails', 'reply_lost'],
    sees: ['endForTheDead ok', 'settle ok', 'settle reply_lost', 'tell fails', 'crash'],
  },
  {
    name: 'what an operator settles while its run ends late',
    slices: [1],
    faults: 1,
    deliveries: 2,
    waits: 1,
    stalls: true,
    operator: 1,
    platform: ['accepted'],
    effects: ['fails'],
    sees: ['endForTheDead ok', 'settle ok', 'findMessage ok', 'crash'],
  },
  {
    name: 'two recipients of a run that stalls',
    slices: [2],
    faults: 0,
    deliveries: 2,
    waits: 1,
    stalls: true,
    sees: ['endForTheDead ok', 'settle ok'],
  },
  {
    name: 'what an operator settles while receipts are counted',
    slices: [1],
    faults: thorough ? 1 : 0,
    deliveries: 2,
    workers: 1,
    waits: 1,
    receipts: 1,
    operator: 1,
    platform: ['lost_after'],
    effects: ['fails'],
    sees: ['findMessage ok', 'settle ok', 'tellReceipts ok'],
  },
  {
    name: 'receipts of an answer that is lost',
    slices: [1],
    faults: 1,
    deliveries: 2,
    receipts: 2,
    workers: thorough ? 2 : 1,
    waits: 1,
    platform: ['accepted', 'lost_after'],
    sees: ['findAll ok', 'tellReceipts ok', 'call lost_after'],
  },
  {
    name: 'two receipts of a slice in one batch',
    slices: [2],
    faults: 1,
    deliveries: thorough ? 2 : 1,
    receipts: thorough ? 3 : 2,
    batched: true,
    workers: 1,
    platform: ['lost_after'],
    effects: ['fails', 'reply_lost', 'lands_late'],
    sees: ['append lands_late', 'tellReceipts fails', 'crash', 'land'],
  },
  {
    name: 'two receipts of a slice in two runs',
    slices: [2],
    faults: thorough ? 1 : 0,
    deliveries: 1,
    receipts: 2,
    receiptRuns: 2,
    workers: 1,
    platform: ['lost_after'],
    effects: ['lands_late'],
    sees: ['findAll ok', 'tellReceipts ok', thorough ? 'append lands_late' : 'acknowledge'],
  },
  {
    name: 'receipts of what was refused',
    slices: [1],
    faults: 1,
    deliveries: thorough ? 3 : 2,
    receipts: 1,
    waits: thorough ? 1 : 0,
    platform: told,
    sees: ['call throttled_yet_taken'],
  },
];

test.each(scenarios)(
  '$name: every promise holds in every state',
  async ({ sees, ...scenario }) => {
    const seen = await exploreSlices(scenario, (state, before) => checkPromises(state, before, scenario.slices));
    expect([...seen]).toEqual(expect.arrayContaining([...sees]));
  },
  300_000,
);
