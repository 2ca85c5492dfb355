import { expect, test } from 'vitest';
import type { ListedChannel } from '../../../../lib/channels/channel.ts';
import { limitOfJob } from '../../../../lib/messages/pace/limit-of-job.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';

const head = makeJobHead({ throughputPerSecond: 250 });

test('the platform’s word on the number of a job counts, and when it cannot be read what was provisioned (D43)', async () => {
  const asked: string[][] = [];
  const findNumber = async (...address: string[]) => {
    asked.push(address);
    return { throughputLevel: 'HIGH' } as ListedChannel;
  };
  const logged: string[] = [];
  const log = (event: string) => void logged.push(event);
  expect(await limitOfJob({ channels: { findNumber }, log })(head)).toBe(1_000);
  expect(asked).toEqual([[head.wabaId, head.phoneNumberId]]);
  const broken = { findNumber: () => Promise.reject(new Error('no table')) };
  expect(await limitOfJob({ channels: broken, log })(head)).toBe(250);
  expect(logged).toEqual(['job.limit_not_read']);
});
