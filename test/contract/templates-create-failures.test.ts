import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { platform, synchronize } from '../support/api.ts';
import { create, creationsAsked, listedTemplate, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
const fault = (action: object) =>
  platform('POST /_control/faults', { match: { path: 'message_templates' }, action, times: 1 });
beforeAll(() => synchronize('supervisor1001'));
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

describe('the platform fails, refuses or limits (D7)', () => {
  const unclear = {
    code: 'platform_unreachable',
    message: 'the platform did not answer clearly and may have done what was asked; synchronize before repeating it',
  };

  test.each([
    ['breaks the connection off', { drop: 'before' }, [502, unclear, null]],
    [
      'refuses our own credential',
      { code: 190 },
      [502, { code: 'platform_unreachable', message: 'the platform could not be reached' }, null],
    ],
    [
      'refuses what is its own to judge',
      { code: 100, subcode: 2_388_299 },
      [
        400,
        { code: 'platform_refused', message: 'Leading or trailing parameters not allowed', platform_code: 100 },
        null,
      ],
    ],
    [
      'limits the rate',
      { code: 80_008 },
      [
        429,
        {
          code: 'platform_rate_limited',
          message: 'the platform limits the rate of requests, try again later',
          platform_code: 80_008,
        },
        '60',
      ],
    ],
  ])('%s: nothing is stored, and the next request is taken', async (_, action, answered) => {
    const draft = probes.draft();
    await fault(action);
    const reply = await create(draft);
    expect([reply.status, reply.body, reply.headers.get('retry-after')]).toEqual(answered);
    expect(await listedTemplate(1001, draft.name)).toBeUndefined();
    expect((await create(draft)).status).toBe(200);
  });

  test('an answer that is lost: not asked again, then refused in the platform’s words, and a synchronization brings it', async () => {
    const draft = probes.draft();
    const before = await creationsAsked();
    await fault({ drop: 'after' });
    expect(await create(draft)).toMatchObject({ status: 502, body: unclear });
    expect(await creationsAsked()).toBe(before + 1);
    const again = await create(draft);
    expect([again.status, again.body]).toEqual([
      400,
      { code: 'platform_refused', message: 'There is already en_US content for this template', platform_code: 100 },
    ]);
    await synchronize('supervisor1001');
    const { name } = draft;
    for (const clientId of [1001, 1002]) {
      expect(await listedTemplate(clientId, name)).toMatchObject({ platform_template: { name, status: 'PENDING' } });
    }
  });

  test('the same name twice at the same time: one template for each client', async () => {
    const draft = probes.draft();
    const replies = await Promise.all([create(draft), create(draft)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    for (const clientId of [1001, 1002]) {
      expect(await listedTemplate(clientId, draft.name)).toBeDefined();
      expect(await listedTemplate(clientId, draft.name, '&page=2&size=1')).toBeUndefined();
    }
  });
});
