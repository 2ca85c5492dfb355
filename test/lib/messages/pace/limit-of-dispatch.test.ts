import { expect, test } from 'vitest';
import type { ListedChannel } from '../../../../lib/channels/channel.ts';
import { limitOfDispatch } from '../../../../lib/messages/pace/limit-of-dispatch.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

const head = makeDispatchHead({ throughputPerSecond: 250 });

test('the platform’s word on the number of a dispatch counts, and when it cannot be read what was provisioned (D43)', async () => {
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
  expect(await limitOfDispatch({ channels: broken, log })(head)).toBe(250);
  expect(logged).toEqual(['dispatch.limit_not_read']);
});
