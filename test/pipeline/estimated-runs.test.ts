import { expect, test } from 'vitest';
import { slowedDown, unknownPace } from '../../lib/messages/pace/known-pace.ts';
import { makeDispatchHead } from '../support/made-dispatches.ts';
import { estimatedRun } from './estimated-run.ts';
import { accept, limitPerSecond } from './quiet-world.ts';
import type { PipelineWorld } from './world.ts';

/* Compares the time that a rehearsal tells (D51) with the run that follows it, in virtual time on the real policies. */

const other = { clientId: 2_002 };

async function later(world: PipelineWorld, ms: number): Promise<void> {
  await world.time.sleep(ms);
}

test.each<[string, number, ((world: PipelineWorld) => Promise<void> | void)?]>([
  ['an idle number', 2_000],
  [
    'a number that another client has just begun to use for long',
    2_000,
    async (world) => {
      accept(world, 4_000, other);
      await later(world, 3_000);
    },
  ],
  [
    'a number that two dispatches of another client, and one of the same, have used for a while',
    500,
    async (world) => {
      accept(world, 1_500, other);
      accept(world, 1_500, other);
      accept(world, 1_500);
      await later(world, 13_000);
    },
  ],
  [
    'a number on which another dispatch is about to end',
    2_000,
    async (world) => {
      accept(world, 1_000, other);
      await later(world, 8_000);
    },
  ],
  [
    'a number that was slowed down by refusals',
    2_000,
    (world) => {
      const { phoneNumberId } = makeDispatchHead();
      const learned = { perSecond: 20, atMs: world.time.nowMs };
      world.paces.stored.set(phoneNumberId, { ...unknownPace, version: 1, learned });
    },
  ],
  [
    'a number that was slowed down a while ago',
    5_000,
    async (world) => {
      const { phoneNumberId } = makeDispatchHead();
      world.paces.stored.set(phoneNumberId, {
        ...slowedDown(unknownPace, limitPerSecond, world.time.nowMs),
        version: 1,
      });
      await later(world, 100_000);
    },
  ],
])('%s: %i recipients take what was said, within a tenth', async (_, size, before) => {
  const { estimatedMs, ranMs } = await estimatedRun(size, before === undefined ? {} : { before });
  expect(Math.abs(estimatedMs / ranMs - 1)).toBeLessThanOrEqual(0.1);
});

test.each([
  ['a number that a person uses too', 20, 500],
  ['a fast number', 1_000, 10_000],
])(
  '%s, of %i a second, which another client has used for a while: %i recipients as well',
  async (_, perSecond, size) => {
    const before = async (world: PipelineWorld) => {
      accept(world, 3 * size, other);
      await later(world, 14_000);
    };
    const { estimatedMs, ranMs } = await estimatedRun(size, { before, perSecond });
    expect(Math.abs(estimatedMs / ranMs - 1)).toBeLessThanOrEqual(0.1);
  },
);

test.each([3, 15, 40])(
  'a slow number, of 5 a second, which three others have used for %i s: 150 recipients as well',
  async (seconds) => {
    const before = async (world: PipelineWorld) => {
      for (const clientId of [1, 2, 3]) accept(world, 300, { clientId });
      await later(world, seconds * 1_000);
    };
    const { estimatedMs, ranMs } = await estimatedRun(150, { before, perSecond: 5 });
    expect(Math.abs(estimatedMs / ranMs - 1)).toBeLessThanOrEqual(0.1);
  },
);

async function besideCampaign(world: PipelineWorld): Promise<void> {
  accept(world, 1_500, other);
  await later(world, 5_000);
}

test.each([1, 10, 11])('%i recipients beside a campaign leave within what was said and a moment', async (size) => {
  const { estimatedMs, ranMs } = await estimatedRun(size, { before: besideCampaign });
  expect(estimatedMs).toBeLessThanOrEqual(1_500);
  expect(ranMs - estimatedMs).toBeLessThan(500);
});

test.each([1, 10])('%i one-time codes beside a campaign leave within what was said and a moment', async (size) => {
  const { estimatedMs, ranMs } = await estimatedRun(size, { before: besideCampaign, urgent: true });
  expect(estimatedMs).toBeLessThanOrEqual(1_500);
  expect(ranMs - estimatedMs).toBeLessThan(500);
});

test.each([5, 20, 80])(
  'ten one-time codes on a number of %i a second leave in front of three campaigns (D44)',
  async (perSecond) => {
    const before = async (world: PipelineWorld) => {
      for (const clientId of [1, 2, 3]) accept(world, 30 * perSecond, { clientId });
      await later(world, 15_000);
    };
    const { estimatedMs, ranMs } = await estimatedRun(10, { before, urgent: true, perSecond });
    // A look of the sender, and every second turn.
    expect(estimatedMs).toBeCloseTo(500 + (20 * 1_000) / (0.9 * perSecond), 1);
    expect(Math.abs(ranMs - estimatedMs)).toBeLessThan(750);
  },
);

test('a dispatch of one-time codes beside a campaign takes turns with it, as was said', async () => {
  const { estimatedMs, ranMs } = await estimatedRun(1_000, { before: besideCampaign, urgent: true });
  expect(Math.abs(estimatedMs / ranMs - 1)).toBeLessThanOrEqual(0.1);
});
