import { expect, test } from 'vitest';
import { marketingOnboarding } from '../../../../lib/messages/resolve/platform-onboarding.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { scriptedPlatform } from '../../../support/scripted-platform.ts';

const waba = { wabaId: '200000000000001', credential: 'main' };

function setup(...replies: Parameters<typeof scriptedPlatform>) {
  const { clock, calls, transport, credentialOf, nowMs } = scriptedPlatform(...replies);
  return { clock, calls, isOnboarded: marketingOnboarding(transport, credentialOf, nowMs) };
}

const saying = (status: unknown) => ({ id: waba.wabaId, marketing_messages_onboarding_status: status });

test('asks the WABA for its onboarding status and keeps the answer 5 minutes (D30)', async () => {
  const { clock, calls, isOnboarded } = setup(saying('ONBOARDED'), saying('ELIGIBLE'));
  expect(await isOnboarded(waba)).toBe(true);
  clock.nowMs += 299_999;
  expect(await isOnboarded(waba)).toBe(true);
  expect(calls).toEqual([
    {
      method: 'GET',
      path: '200000000000001',
      query: { fields: 'id,marketing_messages_onboarding_status' },
      accessToken: 'token of main',
      wabaId: '200000000000001',
    },
  ]);
  clock.nowMs += 1;
  expect(await isOnboarded(waba)).toBe(false);
  expect(await isOnboarded({ ...waba, wabaId: '200000000000002' })).toBe(false);
  expect(calls).toHaveLength(3);
});

test.each([
  ['onboarded', true],
  ['INELIGIBLE', false],
  ['', false],
  [undefined, false],
])('status %j: %j', async (status, expected) => {
  expect(await setup(saying(status)).isOnboarded(waba)).toBe(expected);
});

test.each([
  ['the platform does not answer', new PlatformFailure('ambiguous')],
  ['the platform refuses', new PlatformFailure('refused', { httpStatus: 400, code: 100 })],
  ['the answer has another form', saying(7)],
])('%s: no, and not asked again for 30 s', async (_what, reply) => {
  const { clock, calls, isOnboarded } = setup(reply, saying('ONBOARDED'));
  expect([await isOnboarded(waba), await isOnboarded(waba)]).toEqual([false, false]);
  expect(calls).toHaveLength(1);
  clock.nowMs += 30_000;
  expect(await isOnboarded(waba)).toBe(true);
});
