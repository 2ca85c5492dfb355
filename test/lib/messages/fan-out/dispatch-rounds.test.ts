import { expect, test } from 'vitest';
import type { RoundRecord } from '../../../../lib/messages/dispatch/item.ts';
import { againstTaking } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';

const run = { dispatchId: 'J', round: 3, owner: 'mine' };
const nowMs = 1_000;
const over = { kind: 'over' };

test.each<readonly [string, RoundRecord | undefined, object | undefined]>([
  ['no run has begun', undefined, undefined],
  ['was handed over', { round: 3 }, undefined],
  ['this run has taken already', { round: 3, lease: { owner: 'mine', untilMs: 2_000 } }, undefined],
  ['another run holds', { round: 3, lease: { owner: 'other', untilMs: 1_001 } }, { kind: 'held', untilMs: 1_001 }],
  ['a run that died held', { round: 3, lease: { owner: 'other', untilMs: 1_000 } }, undefined],
  [
    'another run holds, of the round before',
    { round: 2, lease: { owner: 'other', untilMs: 2_000 } },
    { kind: 'held', untilMs: 2_000 },
  ],
  ['follows one that was handed over', { round: 2 }, undefined],
  ['is over', { round: 4 }, over],
  ['is over, and whose next another run holds', { round: 4, lease: { owner: 'other', untilMs: 2_000 } }, over],
  ['is over, though this run held the next', { round: 4, lease: { owner: 'mine', untilMs: 2_000 } }, over],
])('a round that %s: %j means %j', (_, record, state) => {
  expect(againstTaking(record, run, nowMs)).toEqual(state);
});
