import { expect, it } from 'vitest';
import { Refusal } from '../../../../lib/http/refusal.ts';
import { countingPlatformFailure } from '../../../../lib/messages/accept/platform-failed-send.ts';
import { countedBy } from '../../../support/counted.ts';

/**
 * Acceptance's objective excludes answers of 500 and above that the service did not cause (infra/operate/README.md).
 */

it.each([
  ['the platform did not answer', new Refusal('platform_unreachable', 'no', { cause: new Error('platform') }), 1],
  ['the request was not finished in time', new Refusal('platform_unreachable', 'late'), undefined],
  ['the queue took nothing', new Refusal('dispatch_unavailable', 'no', { cause: new Error('SQS') }), undefined],
  ['a fault of ours', new TypeError('ours'), undefined],
] as const)('%s', async (_, error, counted) => {
  const send = countedBy(() => countingPlatformFailure(() => Promise.reject(error)));
  expect((await send)[0]?.['SendsFailedByPlatform']).toBe(counted);
  await expect(countingPlatformFailure(() => Promise.reject(error))).rejects.toBe(error);
});
