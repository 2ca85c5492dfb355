import { afterEach, describe, expect, test } from 'vitest';
import { addressOf } from '../support/addresses.ts';
import { apiAt, call, platform, synchronize, tokenOf } from '../support/api.ts';
import {
  create,
  creationsAsked,
  freshHour,
  listedTemplate,
  plainBody,
  templateProbes,
} from '../support/template-probes.ts';

const probes = templateProbes();
const fault = (action: object) =>
  platform('POST /_control/faults', { match: { path: 'message_templates' }, action, times: 1 });

afterEach(async () => {
  await platform('DELETE /_control/faults');
});

const unreachable = { code: 'platform_unreachable', message: 'the platform could not be reached' };
const unclear = {
  code: 'platform_unreachable',
  message: 'the platform did not answer clearly and may have done what was asked; synchronize before repeating it',
};

describe('the platform fails: 502, and nothing is stored (D7)', () => {
  test.each([
    ['breaks the connection off', { drop: 'before' }, unclear],
    ['answers 500', { status: 500 }, unclear],
    ['answers with a page', { html: true }, unclear],
    ['refuses our own credential', { code: 190 }, unreachable],
    ['is out of order', { code: 2 }, unclear],
  ])('%s', async (_, action, answer) => {
    const draft = probes.draft();
    await fault(action);
    const reply = await create(draft);
    expect([reply.status, reply.body]).toEqual([502, answer]);
    expect(await listedTemplate(1001, draft.name)).toBeUndefined();
    expect((await create(draft)).status).toBe(200);
  });

  test('an answer that is lost: not asked again, and a synchronization brings the template', async () => {
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
});

describe('the platform refuses: 400 in its words, with its code', () => {
  const spec = { optimization_spec: { bid_amount: 1, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' } };
  const header = { type: 'HEADER', format: 'IMAGE', header_handle: '4::nothing' };
  test.each([
    ['a name that it keeps', { name: 'hello_world' }, 'The name hello_world is kept for sample templates'],
    [
      'a language that it does not know',
      { language: 'xx' },
      '(#100) Param language must be a supported language - got "xx".',
    ],
    ['optimization_spec of a UTILITY template', spec, 'optimization_spec is not for UTILITY templates'],
    [
      'a handle of no upload',
      { components: [header, plainBody] },
      'header: the handle is not one of a completed upload',
    ],
  ])('%s', async (_, changes, message) => {
    const draft = probes.draft(changes);
    const reply = await create(draft);
    expect([reply.status, reply.body]).toEqual([400, { code: 'platform_refused', message, platform_code: 100 }]);
    expect(await listedTemplate(1001, draft.name)).toBeUndefined();
  });

  test('another category than the name has in another language', async () => {
    const draft = probes.draft();
    expect((await create(draft)).status).toBe(200);
    const reply = await create(probes.draft({ ...draft, language: 'es', category: 'MARKETING' }));
    expect(reply).toMatchObject({
      status: 400,
      body: {
        code: 'platform_refused',
        message: `The other languages of ${draft.name} are UTILITY, and all languages of a name share one category`,
        platform_code: 100,
      },
    });
  });
});

describe('the platform limits the rate: 429 with Retry-After (D7)', () => {
  const limited = (platform_code: number) => ({
    code: 'platform_rate_limited',
    message: 'the platform limits the rate of requests, try again later',
    platform_code,
  });

  test.each([4, 80_007, 80_008])('code %i', async (code) => {
    const draft = probes.draft();
    await fault({ code });
    const reply = await create(draft);
    expect([reply.status, reply.body, reply.headers.get('retry-after')]).toEqual([429, limited(code), '60']);
    expect((await create(draft)).status).toBe(200);
  });

  test('the 101st creation within an hour; it is taken when the hour is over', async () => {
    await freshHour();
    const hundred = Array.from({ length: 100 }, () => probes.draft());
    const replies = hundred.map((body) =>
      call(addressOf('platformUrl'), 'POST /v25.0/200000000000002/message_templates', {
        token: 'demo-platform-token',
        body,
      }),
    );
    expect(new Set((await Promise.all(replies)).map(({ status }) => status))).toEqual(new Set([200]));
    const draft = probes.draft();
    const options = { user: 'supervisor1002', did: '5511900000003' } as const;
    const over = await create(draft, options);
    expect([over.status, over.body, over.headers.get('retry-after')]).toEqual([429, limited(80_007), '60']);
    await freshHour();
    expect(await create(draft, options)).toMatchObject({ status: 200, body: { status: 'PENDING' } });
  });
});

describe('names', () => {
  test('a name is taken for every client of the WABA, in its language', async () => {
    const draft = probes.draft();
    expect((await create(draft)).status).toBe(200);
    for (const options of [{}, { user: 'supervisor1002', did: '5491100000002' }] as const) {
      const reply = await create(draft, options);
      const message = 'a template of this name and language exists already';
      expect([reply.status, reply.body]).toEqual([
        400,
        { code: 'invalid_request', message, errors: [{ path: 'name', message }] },
      ]);
    }
  });

  test('the same name twice at the same time: one template', async () => {
    const draft = probes.draft();
    const replies = await Promise.all([create(draft), create(draft)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
    const token = await tokenOf('operator');
    for (const clientId of [1001, 1002]) {
      const route = `GET /v1/templates?client_id=${clientId}&name=${draft.name}`;
      expect((await apiAt(addressOf('apiUrl'), route, { token })).body.total).toBe(1);
    }
  });
});
