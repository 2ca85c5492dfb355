import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { platform } from '../support/api.ts';
import { create, expectRefused, plainBody, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
beforeAll(async () => {
  // The platform takes 100 creations an hour.
  await platform('POST /_control/clock', { advance_seconds: 3_600 });
});
afterAll(probes.cleanUp);

describe('limits by category (contract, Limits)', () => {
  const components = {
    AUTHENTICATION: [{ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] }],
    UTILITY: [plainBody],
    MARKETING: [plainBody],
  } as const;
  const ranges = {
    AUTHENTICATION: { text: '30 to 900 seconds in AUTHENTICATION, or -1', good: [30, 900, -1], bad: [29, 901, 0, -2] },
    UTILITY: { text: '30 to 43200 seconds in UTILITY, or -1', good: [30, 43_200, -1], bad: [29, 43_201] },
    MARKETING: {
      text: '43200 to 2592000 seconds in MARKETING',
      good: [43_200, 2_592_000],
      bad: [43_199, 2_592_001, -1],
    },
  } as const;
  const each = <K extends 'good' | 'bad'>(kind: K) =>
    (['AUTHENTICATION', 'UTILITY', 'MARKETING'] as const).flatMap((category) =>
      ranges[category][kind].map((seconds) => [category, seconds, ranges[category].text] as const),
    );
  const withTtl = (category: keyof typeof components, message_send_ttl_seconds: number) =>
    create(probes.draft({ category, components: components[category], message_send_ttl_seconds }));

  test.each(each('good'))('%s: %i is taken', async (category, seconds) => {
    expect(await withTtl(category, seconds)).toMatchObject({ status: 200, body: { category } });
  });

  test.each(each('bad'))('%s: %i is refused', async (category, seconds, text) => {
    const message = `message_send_ttl_seconds: ${text}, received ${seconds}`;
    await expectRefused(() => withTtl(category, seconds), message, ['message_send_ttl_seconds']);
  });

  test.each([0.49, 0, 15.1, 90])('a code of %d minutes is refused', async (minutes) => {
    const draft = { category: 'AUTHENTICATION', components: components.AUTHENTICATION };
    const ask = () => create(probes.draft({ ...draft, code_expiration_minutes: minutes }));
    await expectRefused(ask, `code_expiration_minutes: a number from 0.5 to 15, received ${minutes}`, [
      'code_expiration_minutes',
    ]);
  });
});
