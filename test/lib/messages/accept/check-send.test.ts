import { describe, expect, test } from 'vitest';
import { type CheckPorts, checkSend } from '../../../../lib/messages/accept/check-send.ts';
import type { Recipient } from '../../../../lib/messages/dispatch/head.ts';
import type { SendRequest } from '../../../../lib/messages/request/send-request.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { body, makeTemplate, sendable } from '../../../support/platform-templates.ts';
import { did, nowMs, portsOf, sendOf, to } from './checked-send.ts';

/** messages-send.adapter.test.ts tests the page. */

const ana = { to, params: { body: ['Ana', '17'], buttons: ['17'] } };

const image = { type: 'image_url', value: 'https://cdn.example.com/a.png' } as const;

const single: Recipient = {
  to,
  params: { products: [{ type: 'action', action: { thumbnailProductRetailerId: 'p1' } }] },
};

describe('the dispatch that a send becomes', () => {
  test('says no more than was asked for', async () => {
    const { ports, asked } = portsOf(sendable.plain);
    expect(await checkSend(sendOf(), ports)).toEqual({
      dispatch: {
        head: {
          dispatchId: 'J',
          clientId: 1001,
          did: '5491100000001',
          wabaId: '2',
          phoneNumberId: '3',
          credential: 'main',
          throughputPerSecond: 80,
          path: 'messages',
          category: 'UTILITY',
          templateName: 'order_update',
          templateLanguage: 'en_US',
          acceptedAtMs: nowMs,
          total: 1,
        },
        plan: { templateName: 'order_update', languageCode: 'en_US', buttons: [], cards: [] },
        recipients: [{ to }],
      },
    });
    expect(asked).toEqual([]);
  });

  test('says all that was asked for', async () => {
    const waba = { ...did.waba, appId: '500' };
    const request = { campaignId: 7, attends: { agent: 'Ana' }, ttlSeconds: 90, header: image };
    const send = sendOf({ ...request, recipients: [{ to, params: { body: ['Ana'] } }] }, { did: { ...did, waba } });
    const { dispatch } = await checkSend(send, portsOf(sendable.image).ports);
    expect(dispatch.head).toMatchObject({
      category: 'MARKETING',
      receiptsExpected: true,
      heedsOptOuts: true,
      campaignId: 7,
      attends: { agent: 'Ana' },
      expiresAtMs: nowMs + 90_000,
    });
    expect(dispatch.plan).toMatchObject({ header: image });
  });

  test.each([
    ['MARKETING, always', 'Marketing', {}, true],
    ['UTILITY', 'UTILITY', {}, undefined],
    ['UTILITY of a client that wants it', 'utility', { utilityStops: [1001] }, true],
    ['UTILITY, which another client wants', 'UTILITY', { utilityStops: [1002] }, undefined],
    ['AUTHENTICATION, never', 'AUTHENTICATION', { utilityStops: [1001] }, undefined],
  ])('heeds opt-outs: %s (D55)', async (_, category, more, heeds) => {
    const template = makeTemplate([body('Code {{1}}.')], { category });
    const recipients = [{ to, params: { body: ['123456'] } }];
    const send = sendOf({ recipients }, { did: { ...did, waba: { ...did.waba, ...more } } });
    const { dispatch } = await checkSend(send, portsOf(template).ports);
    expect(dispatch.head.heedsOptOuts).toBe(heeds);
  });

  test('names the account that its number sends for', async () => {
    const channel = { ...did.channel, messagingAccountId: '200' };
    const { dispatch } = await checkSend(sendOf({}, { did: { ...did, channel } }), portsOf(sendable.plain).ports);
    expect(dispatch.plan.messagingAccountId).toBe('200');
  });

  test('has each recipient once, and names the duplicates', async () => {
    const send = sendOf({ recipients: [{ to }, { to: `+${to}` }, { to: '5491155550002' }] });
    const { dispatch, warning } = await checkSend(send, portsOf(sendable.plain).ports);
    expect([dispatch.recipients, dispatch.repeats, dispatch.head.total]).toEqual([
      [{ to }, { to: '5491155550002' }],
      // The number says how the client wrote it: with a plus.
      [[1, 0, 3]],
      2,
    ]);
    expect(warning).toBe('duplicate recipients were dropped: recipients[1]');
  });

  describe('with user ids (D24, D25)', () => {
    const replaced = new Map([
      ['US.1', { by: 'US.2', atMs: 1 }],
      ['US.2', { by: 'US.3', atMs: 2 }],
    ]);

    test('goes to the ones that the platform has put in their place, and says so', async () => {
      const { ports, asked } = portsOf(sendable.plain, { replaced });
      const send = sendOf({ recipients: [{ to }, { to: 'US.1' }, { to: 'US.9' }] });
      const { dispatch, warning } = await checkSend(send, ports);
      expect(dispatch.recipients).toEqual([{ to }, { to: 'US.3' }, { to: 'US.9' }]);
      expect(warning).toBe('user ids that the platform has replaced are followed: recipients[1] to US.3');
      expect(dispatch.head.byUserId).toBe(true);
      expect(asked).toEqual(Array(3).fill('replacements in 2'));
    });

    test('has a recipient once who is given by an old id and the new one', async () => {
      const { ports } = portsOf(sendable.plain, { replaced });
      const send = sendOf({ recipients: [{ to: 'US.3' }, { to: 'US.1' }] });
      const { dispatch, warning } = await checkSend(send, ports);
      expect([dispatch.recipients, dispatch.repeats]).toEqual([[{ to: 'US.3' }], [[1, 0]]]);
      expect(warning).toBe(
        'user ids that the platform has replaced are followed: recipients[1] to US.3; duplicate recipients were dropped: recipients[1]',
      );
    });

    test('asks nothing of numbers, and never sends a one-time code to an id', async () => {
      const { ports, asked } = portsOf(sendable.plain, { replaced });
      expect((await checkSend(sendOf({ recipients: [{ to }] }), ports)).dispatch.head).not.toMatchObject({
        byUserId: expect.anything(),
      });
      expect(asked).toEqual([]);
      const code = makeTemplate([body('Code {{1}}.')], { category: 'AUTHENTICATION' });
      const send = sendOf({ recipients: [{ to: 'US.1', params: { body: ['123456'] } }] });
      await expect(checkSend(send, portsOf(code, { replaced }).ports)).rejects.toMatchObject({
        code: 'invalid_recipients',
      });
    });
  });

  test.each([
    ['AUTHENTICATION', true],
    ['Authentication', true],
    ['UTILITY', undefined],
  ])('of category %s is urgent: %s (D44)', async (category, urgent) => {
    const template = makeTemplate([body('Code {{1}}.')], { category });
    const send = sendOf({ recipients: [{ to, params: { body: ['123456'] } }] });
    const { dispatch } = await checkSend(send, portsOf(template).ports);
    expect(dispatch.head.urgent).toBe(urgent);
  });
});

const ttl = { message_send_ttl_seconds: 60 };

test.each([
  ['a bid', { optimization_spec: sendable.bid.optimization_spec }, false, 'marketing_messages', []],
  ['a time to live, onboarded', ttl, true, 'marketing_messages', ['onboarding of 2']],
  ['a time to live, not onboarded', ttl, false, 'messages', ['onboarding of 2']],
  ['neither', {}, true, 'messages', []],
  ['a category in small letters', { category: 'marketing', ...ttl }, true, 'marketing_messages', ['onboarding of 2']],
  ['another category', { category: 'UTILITY', ...ttl }, true, 'messages', []],
])('a template with %s goes its way (D30)', async (_, facts, onboarded, path, questions) => {
  const template = makeTemplate([body('Sale.')], { category: 'MARKETING', ...facts });
  const { ports, asked } = portsOf(template, { onboarded });
  const { dispatch } = await checkSend(sendOf(), ports);
  expect([dispatch.head.path, asked]).toEqual([path, questions]);
});

describe('is refused', () => {
  test.each<[string, PlatformTemplate, Partial<SendRequest>, object]>([
    ['a recipient without what is needed', sendable.order, {}, { code: 'invalid_recipients', status: 400 }],
    ['a request without its header', sendable.image, { recipients: [ana] }, { code: 'invalid_request' }],
    ['a header that nothing takes', sendable.order, { header: image, recipients: [ana] }, { code: 'invalid_request' }],
  ])('%s, with every fault (D24)', async (_, template, request, refusal) => {
    const { ports } = portsOf(template);
    await expect(checkSend(sendOf(request), ports)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringMatching(/\w/),
      details: { errors: expect.arrayContaining([{ path: expect.stringMatching(/\w/), message: expect.any(String) }]) },
    });
  });

  test('a direct-message template, also to a client that has no row of it', async () => {
    const { ports } = portsOf({ ...sendable.plain, source: 'AUTO_GENERATED' });
    await expect(checkSend(sendOf(), ports)).rejects.toMatchObject({
      code: 'template_not_sendable',
      message: 'direct-message templates cannot be sent through this interface',
    });
    const { ports: others } = portsOf({ ...sendable.plain, source: 'MANUAL' });
    expect((await checkSend(sendOf(), others)).warning).toBeUndefined();
  });

  test.each([
    ['never assigned', undefined, ['assign', 'enable']],
    ['whose channel is gone', { channelId: 599, campaignId: 10 }, ['assign', 'enable']],
    ['whose campaign is gone', { channelId: 501, campaignId: 99 }, ['assign', 'enable']],
    ['assigned', { channelId: 501, campaignId: 10 }, ['enable']],
  ])(
    'a template that the client has switched off, %s, with each step to switch it on (D23)',
    async (_, pair, steps) => {
      const documents = [{ id: 'd1', pair }];
      const { ports } = portsOf(sendable.plain, { client: { active: false, documents } });
      const step = {
        assign: 'assign it to a channel and a campaign of the client (POST /v1/templates/d1/channel-campaigns)',
        enable: 'enable it (PATCH /v1/templates/status with {"action":"enable","templates":["d1"]})',
      };
      const named = steps.map((name) => step[name as keyof typeof step]).join(', then ');
      await expect(checkSend(sendOf(), ports)).rejects.toMatchObject({
        code: 'template_not_sendable',
        message: `the template is switched off for this client; to send it, ${named}`,
      });
      const { ports: switchedOn } = portsOf(sendable.plain, { client: { active: true, documents } });
      expect((await checkSend(sendOf(), switchedOn)).warning).toBeUndefined();
    },
  );
});

test.each([
  ['supervisor', false, 'd1'],
  ['onboarding', false, 'd2'],
  ['agent', false, 'd1'],
  ['operator', true, 'd1'],
])('what switches it on names, to %s, an _id that the caller may switch (D17)', async (userId, crossClient, id) => {
  const documents = [11, 10].map((campaignId, index) => ({
    id: `d${index + 1}`,
    pair: { channelId: 501, campaignId },
  }));
  const { ports } = portsOf(sendable.plain, { client: { active: false, documents } });
  const caller = { clientId: crossClient ? 1 : 1001, userId, crossClient };
  await expect(checkSend(sendOf({}, { caller }), ports)).rejects.toMatchObject({
    message: expect.stringContaining(`"templates":["${id}"]`),
  });
});

describe('the catalog of a single product', () => {
  const send = sendOf({ recipients: [single] });

  test('goes into every message, as it is remembered of its WABA', async () => {
    const { ports, asked } = portsOf(sendable.product, { catalogs: ['700'] });
    expect((await checkSend(send, ports)).dispatch.plan).toMatchObject({ catalogId: '700' });
    expect(asked).toEqual(['catalog of 2']);
  });

  test('is read again before a refusal (D23), once for all requests of the WABA', async () => {
    const { ports, asked, questions } = portsOf(sendable.product, { catalogs: [undefined, '700'] });
    expect((await checkSend(send, ports)).dispatch.plan).toMatchObject({ catalogId: '700' });
    expect(asked).toEqual(['catalog of 2', 'catalog of 2, fresh']);

    const none = portsOf(sendable.product, { catalogs: [undefined] });
    const refusal = {
      code: 'template_not_sendable',
      message: 'the template shows a product and no catalog is linked to its WABA',
    };
    await expect(checkSend(send, none.ports)).rejects.toMatchObject(refusal);
    expect([...none.questions.open.keys()]).toEqual(['catalog of 2']);
    expect(questions.open.size).toBe(0);
    // The answer is cached.
    await expect(checkSend(send, none.ports)).rejects.toMatchObject(refusal);
    expect(none.asked.filter((question) => question.endsWith('fresh'))).toHaveLength(1);
  });

  test('costs the client that asks one of its own questions, under the id of its request', async () => {
    const { ports } = portsOf(sendable.product, { catalogs: [undefined, '700'] });
    const asking: unknown[] = [];
    const questions: CheckPorts['questions'] = {
      ...ports.questions,
      claim: async (question, { askerId }) => {
        asking.push([question, askerId]);
        return { state: 'ours' };
      },
      takeTurn: async (clientId) => void asking.push(clientId),
      release: async (question, askerId) => void asking.push([question, askerId]),
    };
    await checkSend(send, { ...ports, questions });
    expect(asking).toEqual([['catalog of 2', 'J'], 1001, ['catalog of 2', 'J']]);
  });

  test('cannot be read: 502', async () => {
    const { ports } = portsOf(sendable.product, { catalogs: [new PlatformFailure('not_sent')] });
    await expect(checkSend(send, ports)).rejects.toMatchObject({ code: 'platform_unreachable' });
  });
});

test('a DID that is the channel of another client is named; the own one is not (D5)', async () => {
  const foreign = { ...did, channel: { ...did.channel, clientId: 1002 } };
  const { ports } = portsOf(sendable.plain);
  expect((await checkSend(sendOf({}, { did: foreign }), ports)).warning).toBe(
    'the did 5491100000001 is a channel of another client of the WABA',
  );
  expect((await checkSend(sendOf({ campaignId: 7 }), ports)).warning).toBe(
    "campaign 7 is not among the template's assignments for this client",
  );
  const other = sendOf({ template: { name: 'order_update', language: 'en-us' } });
  expect((await checkSend(other, ports)).warning).toBe("language en-us was taken for the template's en_US");
});

describe('values that need a look are counted, and sent as they are (D26)', () => {
  const warningFor = async (template: PlatformTemplate, request: Partial<SendRequest>) => {
    const { dispatch, warning } = await checkSend(sendOf(request), portsOf(template).ports);
    return [dispatch.recipients.map(({ params }) => params), warning];
  };

  const unfilled = 'looks like an unfilled placeholder';
  const placeholders = ['{{first_name}}', 'Hola {{ 1 }}!', '$\u007bname}', '*|FNAME|*', '%name%', 'undefined'];
  test.each([
    ...placeholders.map((value) => [value, unfilled]),
    ['\u200b\u2060 \u00ad', 'has only invisible characters'],
    ['\u3164', 'has only invisible characters'],
  ])('%j %s', async (value, what) => {
    const params = { body: ['Ana', value], buttons: ['17'] };
    expect(await warningFor(sendable.order, { recipients: [ana, { to: '5491155550002', params }] })).toEqual([
      [ana.params, params],
      `1 value ${what}: recipients[1].params.body[1]`,
    ]);
  });

  test.each(['Ana {la} Única', '100%', '5 % 3 %', 'null y void', 'a \u200d b', '{}', '[1]', 'https://example.com'])(
    'not %j',
    async (value) => {
      const recipients = [{ to, params: { body: [value, '17'], buttons: ['17'] } }];
      expect(await warningFor(sendable.order, { recipients })).toEqual([[recipients[0]?.params], undefined]);
    },
  );

  test.each(['https://example.com/17', 'HTTP://example.com', 'shop://17'])(
    'the whole URL %s where a suffix belongs, in a card too',
    async (value) => {
      const recipients = [{ to, params: { body: ['Ana', '17'], buttons: [value] } }];
      expect((await warningFor(sendable.order, { recipients }))[1]).toBe(
        '1 value is a whole URL that is appended to the URL of its button: recipients[0].params.buttons[0]',
      );
      const card = { body: ['{{1}}'], buttons: [value] };
      const [, warning] = await warningFor(sendable.carousel, {
        recipients: [{ to, params: { body: ['Ana'], cards: [card, card] } }],
      });
      expect(warning).toBe(
        [
          '2 values look like unfilled placeholders, first recipients[0].params.cards[0].body[0]',
          '2 values are whole URLs that are appended to the URL of their button, first recipients[0].params.cards[0].buttons[0]',
        ].join('; '),
      );
    },
  );

  test('a coupon code and the header are no suffix; the places are those of the request', async () => {
    const location = { latitude: '1', longitude: '2', address: 'https://example.com' };
    const params = { body: ['Ana'] };
    const recipients = [
      { to, params },
      { to, params },
      { to: '5491155550002', params: { body: ['{{1}}'] } },
    ];
    const warningWith = async (name: string) =>
      (
        await warningFor(sendable.location, {
          recipients,
          header: { type: 'location', location: { ...location, name } },
        })
      )[1];
    const dropped = 'duplicate recipients were dropped: recipients[1]';
    expect(await warningWith('{{place}}')).toBe(
      `${dropped}; 2 values look like unfilled placeholders, first component.header.location.name`,
    );
    expect(await warningWith('A')).toBe(`${dropped}; 1 value ${unfilled}: recipients[2].params.body[0]`);
  });
});

test.each(['5491100000001', '+5491100000001', '541100000001'])(
  'the sending number cannot write to itself, in any spelling (D24): %s',
  async (own) => {
    const send = sendOf({ recipients: [{ to }, { to: own }] });
    await expect(checkSend(send, portsOf(sendable.plain).ports)).rejects.toMatchObject({
      code: 'invalid_recipients',
      details: { errors: [{ path: 'recipients[1].to', message: expect.stringContaining('cannot write to itself') }] },
    });
  },
);
