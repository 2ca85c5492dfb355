import { expect, test } from 'vitest';
import type { ListedChannel } from '../../../../lib/channels/channel.ts';
import {
  limitOfDispatch,
  orProvisioned,
  rememberedLimitOfDispatch,
} from '../../../../lib/messages/pace/limit-of-dispatch.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

const head = makeDispatchHead({ throughputPerSecond: 250 });

test('the platform’s word on the number of a dispatch counts; where it is unknown, what was provisioned (D43)', async () => {
  const asked: string[][] = [];
  const findNumber = async (...address: string[]) => {
    asked.push(address);
    return { throughputLevel: 'HIGH' } as ListedChannel;
  };
  const logged: string[] = [];
  const log = (event: string) => void logged.push(event);
  expect(await limitOfDispatch({ channels: { findNumber }, log })(head)).toBe(1_000);
  expect(asked).toEqual([[head.wabaId, head.phoneNumberId]]);
  const broken = { findNumber: () => Promise.reject(new Error('no table')) };
  const limitOf = limitOfDispatch({ channels: broken, log });
  expect(await limitOf(head)).toBeUndefined();
  expect(logged).toEqual(['dispatch.limit_not_read']);
  expect(await orProvisioned(limitOf)(head)).toBe(250);
});

test('a process reads a limit once a minute, and keeps what it knows while that fails (D43)', async () => {
  let nowMs = 0;
  const levels = ['HIGH', undefined, undefined, 'STANDARD'];
  const findNumber = async () => {
    const [throughputLevel] = levels.splice(0, 1);
    if (throughputLevel === undefined) throw new Error('no table');
    return { throughputLevel } as ListedChannel;
  };
  const limitOf = rememberedLimitOfDispatch({ channels: { findNumber }, log: () => undefined, nowMs: () => nowMs });
  const found: unknown[] = [];
  for (const atMs of [0, 59_999, 60_000, 60_001, 60_002, 60_003]) {
    nowMs = atMs;
    found.push(await limitOf(head));
  }
  expect(found).toEqual([1_000, 1_000, 1_000, 1_000, 80, 80]);
});
