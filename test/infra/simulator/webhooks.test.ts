import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { demoSeed } from '../../../infra/simulator/seed.ts';
import { type CallbackReceiver, callbackReceiver } from '../../support/callback-receiver.ts';
import { firstNumber, firstWaba, recipient, simulatorOfFile } from '../../support/simulator.ts';
import { bodyOf, creation, expectManagementError, otp } from './definitions.ts';

const app = '500000000000001';
const orderUpdate = '1100000000000001';
/** The recipient's id for the portfolio of the first WABA. */
const userId = 'AR.13607919076743524463';
const simulator = simulatorOfFile({ afresh: true });
let receiver: CallbackReceiver;
beforeAll(async () => {
  receiver = await callbackReceiver();
});
beforeEach(async () => {
  await simulator.control('POST', `apps/${app}`, { callback_url: receiver.url, secret: 'demo-app-secret' });
  receiver.forget();
});
afterAll(() => receiver.stop());

const wait = (seconds: number) => simulator.control('POST', 'clock', { advance_seconds: seconds });
const receipts = (course: object, match: object = {}) => simulator.control('POST', 'receipts', { match, course });
/** All updates so far, after everything that is due. */
const told = async () => {
  await wait(0);
  return receiver.updates();
};
const statuses = async () => (await told()).map(({ value }) => value.status);
const fields = async () => (await told()).map(({ field }) => field);
const posts = () => receiver.calls.filter(({ method }) => method === 'POST');

describe('statuses', () => {
  test('sent at once, delivered and read on its clock, with what the message carried', async () => {
    const { body } = await simulator.send(recipient, { biz_opaque_callback_data: '01ABC-7 ñ' });
    await expect.poll(() => receiver.updates().map(({ value }) => value.status)).toEqual(['sent']);
    await wait(1);
    await wait(2);
    const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' };
    const common = {
      id: body.messages[0].id,
      recipient_id: recipient,
      recipient_user_id: userId,
      biz_opaque_callback_data: '01ABC-7 ñ',
    };
    expect(receiver.updates().map(({ value }) => value)).toEqual([
      { ...common, status: 'sent', timestamp: '1795176000', pricing },
      { ...common, status: 'delivered', timestamp: '1795176001', pricing },
      { ...common, status: 'read', timestamp: '1795176003' },
    ]);
  });

  test('the envelope, signed over the very bytes, which are ASCII', async () => {
    await simulator.send(recipient, { biz_opaque_callback_data: 'ñ' });
    await wait(0);
    const [post] = posts();
    const text = post?.bytes.toString() ?? '';
    const expected = createHmac('sha256', 'demo-app-secret').update(text).digest('hex');
    expect(post?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${expected}`,
    });
    expect(text).toContain('"biz_opaque_callback_data":"\\u00f1"');
    expect(JSON.parse(text)).toEqual({
      object: 'whatsapp_business_account',
      entry: [
        {
          id: firstWaba,
          changes: [
            {
              field: 'messages',
              value: {
                messaging_product: 'whatsapp',
                metadata: { display_phone_number: '5491100000001', phone_number_id: firstNumber },
                contacts: [{ wa_id: recipient, user_id: userId }],
                statuses: [expect.objectContaining({ status: 'sent' })],
              },
            },
          ],
        },
      ],
    });
  });

  test('what is due together goes together, 1,000 at most', async () => {
    await receipts({ sent_after_ms: 5_000, delivered_after_ms: null, read_after_ms: null, copies: 10 });
    for (let index = 0; index < 110; index += 1) await simulator.send(String(5491150000000 + index));
    expect(posts()).toEqual([]);
    await wait(5);
    const sizes = posts().map(({ bytes }) => JSON.parse(bytes.toString()).entry[0].changes.length);
    expect(sizes).toEqual([1_000, 100]);
  });

  test('one in each POST, for receivers that read no more; a reset keeps that', async () => {
    await simulator.control('POST', `apps/${app}`, { updates_per_post: 1 });
    await simulator.control('POST', 'reset');
    await receipts({ sent_after_ms: 5_000, delivered_after_ms: 5_000, read_after_ms: 5_000 });
    await simulator.send(recipient);
    await wait(5);
    const told = posts().map(({ bytes }) => JSON.parse(bytes.toString()).entry);
    expect(told.map(([entry]) => [entry.changes.length, entry.changes[0].value.statuses[0].status])).toEqual([
      [1, 'sent'],
      [1, 'delivered'],
      [1, 'read'],
    ]);
    await simulator.control('POST', `apps/${app}`, { updates_per_post: null });
    receiver.forget();
    await simulator.send(recipient);
    await wait(5);
    expect(posts()).toHaveLength(1);
  });

  test.each([
    ['15550131026', 131026],
    ['15550131042', 131042],
    ['15550131049', 131049],
    ['15550131050', 131050],
    ['15550131053', 131053],
  ])('%s: accepted, and later failed with %i, nothing else', async (to, code) => {
    expect((await simulator.send(to)).body.messages[0].message_status).toBe('accepted');
    await wait(1);
    const failed = receiver.updates().map(({ value }) => [value.status, value.recipient_id, value.errors[0].code]);
    expect(failed).toEqual([['failed', to, code]]);
    await wait(3_600);
    expect(receiver.updates()).toHaveLength(1);
  });

  test('held: released after 10 minutes, or dropped', async () => {
    await simulator.send('15550000201');
    await simulator.send('15550132015');
    await simulator.send('15550000202');
    await wait(599);
    expect(receiver.updates()).toEqual([]);
    await wait(10);
    expect(receiver.updates().map(({ value }) => [value.recipient_id, value.status])).toEqual([
      ['15550000201', 'sent'],
      ['15550000201', 'delivered'],
      ['15550132015', 'failed'],
      ['15550000201', 'read'],
    ]);
  });

  test('refused, or taken with the answer lost: only what was taken has statuses', async () => {
    await simulator.send('15550231026');
    await simulator.send('15550000500');
    await expect(simulator.send('15550000200')).rejects.toThrow();
    expect((await told()).map(({ value }) => value.recipient_id)).toEqual(['15550000200']);
  });

  test.each<[string, object, readonly string[]]>([
    ['doubled', { copies: 2 }, ['sent', 'sent', 'delivered', 'delivered', 'read', 'read']],
    ['in the wrong order', { order: 'reversed' }, ['read', 'delivered', 'sent']],
    ['without delivered', { delivered_after_ms: null }, ['sent', 'read']],
    ['lost', { lost: true }, []],
    ['failed by rule', { fail: 131049 }, ['failed']],
  ])('by control: %s', async (_, course, expected) => {
    await receipts(course);
    await simulator.send(recipient);
    await wait(10);
    expect(await statuses()).toEqual(expected);
    await simulator.control('DELETE', 'receipts');
    receiver.forget();
    await simulator.send(recipient);
    await wait(10);
    expect(await statuses()).toEqual(['sent', 'delivered', 'read']);
  });

  test('by control: hours late, dated as it was, and only for whom it was asked', async () => {
    await receipts({ late_ms: 7_200_000 }, { to: `+${recipient}` });
    await simulator.send(recipient);
    await simulator.send('5491150000002');
    await wait(7_199);
    expect((await told()).map(({ value }) => value.recipient_id)).not.toContain(recipient);
    await wait(4);
    const late = (await told()).filter(({ value }) => value.recipient_id === recipient);
    expect(late.map(({ value }) => [value.status, value.timestamp])).toEqual([
      ['sent', '1795176000'],
      ['delivered', '1795176001'],
      ['read', '1795176003'],
    ]);
  });
});

describe('holds of a WABA (platform reference, 10.4)', () => {
  const hold = (body: object) => simulator.control('POST', `wabas/${firstWaba}/holds`, body);
  const takeBack = () => simulator.control('DELETE', `wabas/${firstWaba}/holds`);
  const accountUpdates = async () => {
    const news = await told();
    expect(new Set(news.map(({ field, wabaId }) => `${field} ${wabaId}`))).toEqual(
      new Set(news.length === 0 ? [] : [`account_update ${firstWaba}`]),
    );
    return news.map(({ value }) => value);
  };
  const abuse = 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT';

  test.each<[number, object, object]>([
    [
      131031,
      {
        event: 'DISABLED_UPDATE',
        ban_info: { waba_ban_state: 'DISABLE', waba_ban_date: 'November 20, 2026' },
      },
      {
        event: 'DISABLED_UPDATE',
        ban_info: { waba_ban_state: 'REINSTATE', waba_ban_date: 'November 20, 2026' },
      },
    ],
    [
      368,
      {
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: [
          { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING' },
          { restriction_type: 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING' },
        ],
      },
      { event: 'ACCOUNT_RESTRICTION' },
    ],
    [
      131064,
      {
        event: 'ACCOUNT_RESTRICTION',
        violation_info: { violation_type: abuse },
        restriction_info: [
          { restriction_type: 'RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING', remediation: expect.any(String) },
        ],
      },
      { event: 'ACCOUNT_RESTRICTION', violation_info: { violation_type: `${abuse}_RECOVERY` } },
    ],
  ])('%i: that it begins, and once that it is over', async (code, begun, over) => {
    await hold({ code });
    expect(await accountUpdates()).toEqual([begun]);
    await takeBack();
    await takeBack();
    expect(await accountUpdates()).toEqual([begun, over]);
  });

  test('its end is told with it, and again when it comes; one that is taken back before is over once', async () => {
    await hold({ code: 368, expires_in_seconds: 86_400 });
    const [begun] = await accountUpdates();
    expect(begun.restriction_info.map((one: { expiration: number }) => one.expiration)).toEqual([
      1_795_262_400, 1_795_262_400,
    ]);
    await wait(86_399);
    expect(await accountUpdates()).toHaveLength(1);
    await wait(1);
    expect((await accountUpdates()).slice(1)).toEqual([{ event: 'ACCOUNT_RESTRICTION' }]);
    await hold({ code: 131064, expires_in_seconds: 60, expiration_as: 'text' });
    await takeBack();
    await wait(120);
    const [, , limited, ...rest] = await accountUpdates();
    expect([limited.restriction_info[0].expiration, rest.length]).toEqual(['1795262460', 1]);
  });

  test('misused UTILITY templates: none may be created, the approved ones are MARKETING, until that is over', async () => {
    const create = (name: string) =>
      simulator.post(`${firstWaba}/message_templates`, creation({ name, category: 'UTILITY' }));
    const utility = demoSeed()
      .wabas.filter(({ node }) => node.id === firstWaba)
      .flatMap(({ templates }) => templates)
      .filter(({ category, status }) => category === 'UTILITY' && status === 'APPROVED')
      .map(({ name }) => name);
    expect(utility).toContain('order_update');
    await hold({ code: 'no_utility_templates', expires_in_seconds: 60 });
    expect((await told()).map(({ field, value }) => [field, value])).toEqual([
      [
        'account_update',
        {
          event: 'ACCOUNT_RESTRICTION',
          violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE' },
          restriction_info: [
            {
              restriction_type: 'RESTRICTED_UTILITY_TEMPLATES',
              expiration: 1_795_176_060,
              remediation: expect.any(String),
            },
          ],
        },
      ],
      ...utility.map((message_template_name) => [
        'template_category_update',
        expect.objectContaining({ message_template_name, previous_category: 'UTILITY', new_category: 'MARKETING' }),
      ]),
    ]);
    expectManagementError(await create('one'), undefined, /utility templates/);
    expect((await simulator.send(recipient)).status).toBe(200);
    receiver.forget();
    await wait(60);
    expect((await told()).filter(({ field }) => field === 'account_update').map(({ value }) => value)).toEqual([
      { event: 'ACCOUNT_RESTRICTION', violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE_UNBAN' } },
    ]);
    expect((await create('two')).status).toBe(200);
  });

  test.each<[object, object]>([
    [
      { violation_type: 'UTILITY_TEMPLATE_ABUSE' },
      { event: 'ACCOUNT_RESTRICTION', violation_info: { violation_type: 'UTILITY_TEMPLATE_ABUSE' } },
    ],
    [
      { violation_type: 'ADULT', phone_number_id: firstNumber },
      {
        event: 'ACCOUNT_VIOLATION',
        violation_info: { violation_type: 'ADULT' },
        phone_number: '5491100000001',
      },
    ],
  ])('a warning %j holds nothing', async (warning, value) => {
    await simulator.control('POST', `wabas/${firstWaba}/warnings`, warning);
    expect(await accountUpdates()).toEqual([value]);
    expect((await simulator.send(recipient)).status).toBe(200);
  });

  test('its end is told when it comes, although nothing is asked meanwhile', async () => {
    const { startSimulator } = await import('../../../infra/simulator/server.ts');
    const own = await startSimulator();
    const control = (path: string, body: object) =>
      fetch(`${own.url}/_control/${path}`, { method: 'POST', body: JSON.stringify(body) });
    await control(`apps/${app}`, { callback_url: receiver.url });
    await control(`wabas/${firstWaba}/holds`, { code: 368, expires_in_seconds: 0.05 });
    await expect.poll(() => receiver.updates().at(-1)?.value).toEqual({ event: 'ACCOUNT_RESTRICTION' });
    await own.stop();
  });

  test.each([131042, 131031])(
    '%i may come later: every message is accepted and fails, until it is over',
    async (code) => {
      await hold({ code, later: true });
      expect((await simulator.send(recipient)).status).toBe(200);
      const { wabas } = (await simulator.control('GET', 'overview')).body;
      expect(wabas[0].holds).toEqual([{ code, since: expect.any(String), later: true }]);
      await wait(4);
      await takeBack();
      expect((await simulator.send(recipient)).status).toBe(200);
      await wait(4);
      const news = (await told()).filter(({ field }) => field === 'messages');
      expect(news.map(({ value }) => value.errors?.[0].code ?? value.status)).toEqual([
        code,
        'sent',
        'delivered',
        'read',
      ]);
    },
  );

  test('nothing is told of payment, nor of what holds a number', async () => {
    await hold({ code: 131042 });
    for (const code of [131037, 133010, 131045, 131048, 'no_answer']) {
      await simulator.control('POST', `numbers/${firstNumber}/holds`, { code });
    }
    await takeBack();
    await simulator.control('DELETE', `numbers/${firstNumber}/holds`);
    expect(await told()).toEqual([]);
  });
});

describe('delivery', () => {
  test('an address that fails gets it again, later each time, the same bytes, and then the rest', async () => {
    receiver.answerWith(500, 302);
    await simulator.send(recipient);
    await wait(0);
    await simulator.send('5491150000002');
    await wait(0.9);
    expect(posts()).toHaveLength(1);
    await wait(0.1);
    await wait(1.9);
    expect(posts()).toHaveLength(2);
    await wait(0.1);
    const [first, second, third, fourth] = posts();
    expect(second?.bytes).toEqual(first?.bytes);
    expect(third?.bytes).toEqual(first?.bytes);
    expect(fourth?.bytes).not.toEqual(first?.bytes);
    const { body } = await simulator.control('GET', 'webhooks?limit=3');
    expect(body).toMatchObject({ due: 0, given_up: 0 });
    expect(body.data.map((post: { attempt: number; answer: number }) => [post.attempt, post.answer])).toEqual([
      [1, 200],
      [3, 200],
      [2, 302],
    ]);
  });

  test('nobody there: one sentence, and one when somebody is', async () => {
    const { startSimulator } = await import('../../../infra/simulator/server.ts');
    const lines: string[] = [];
    const nowMs = () => Date.parse('2026-11-20T12:00:00Z');
    const own = await startSimulator({ nowMs, report: (line) => lines.push(line) });
    const control = (path: string, body: object) =>
      fetch(`${own.url}/_control/${path}`, { method: 'POST', body: JSON.stringify(body) });
    const gone = await callbackReceiver();
    await gone.stop();
    await control(`apps/${app}`, { callback_url: gone.url });
    await control('webhooks', { waba_id: firstWaba, field: 'account_update', value: {} });
    for (const seconds of [0, 3_600, 3_600]) await control('clock', { advance_seconds: seconds });
    expect(lines).toEqual([`webhooks: ${gone.url} answers ECONNREFUSED; trying again`]);
    const list = await (await fetch(`${own.url}/_control/webhooks`)).json();
    expect(list).toMatchObject({ total: 3, due: 1, data: [{ attempt: 3, answer: 'ECONNREFUSED' }, {}, {}] });
    await own.stop();
  });

  test('signed with the secret of now', async () => {
    await simulator.control('POST', `apps/${app}`, { secret: 'another' });
    await simulator.send(recipient);
    await wait(0);
    const [post] = posts();
    const expected = createHmac('sha256', 'another')
      .update(post?.bytes ?? '')
      .digest('hex');
    expect(post?.headers['x-hub-signature-256']).toBe(`sha256=${expected}`);
    await simulator.control('POST', `apps/${app}`, { secret: 'demo-app-secret' });
  });

  test('only the fields that the app wants, and only while it is subscribed', async () => {
    await simulator.control('POST', `apps/${app}`, { fields: ['account_update'] });
    await simulator.send(recipient);
    const news = { waba_id: firstWaba, field: 'account_update', value: { event: 'VERIFIED_ACCOUNT' } };
    expect((await simulator.control('POST', 'webhooks', news)).body).toEqual({ success: true, targets: 1 });
    expect(await fields()).toEqual(['account_update']);
    await simulator.control('POST', `apps/${app}`, { fields: null, subscribed_waba_ids: [] });
    expect((await simulator.control('POST', 'webhooks', news)).body).toEqual({ success: true, targets: 0 });
    expect(await fields()).toEqual(['account_update']);
  });

  test('a reset forgets what was planned and who subscribed, and keeps the callback', async () => {
    await simulator.send(recipient);
    await simulator.call('DELETE', `/v25.0/${firstWaba}/subscribed_apps`);
    await simulator.control('POST', 'reset');
    await wait(10);
    receiver.forget();
    await simulator.send(recipient);
    expect(await statuses()).toEqual(['sent']);
  });
});

describe('news of templates', () => {
  const named = {
    message_template_id: Number(orderUpdate),
    message_template_name: 'order_update',
    message_template_language: 'en-US',
  };
  const values = async () => (await told()).map(({ field, value }) => [field, value]);
  const change = (changes: object) => simulator.control('POST', `templates/${orderUpdate}`, changes);

  test('a review: PENDING, then what came of it', async () => {
    const { body } = await simulator.post(`${firstWaba}/message_templates`, creation());
    await simulator.post(
      `${firstWaba}/message_templates`,
      creation({ name: 'bad', components: [bodyOf('Buy REJECT_SCAM now.')] }),
    );
    await wait(60);
    const news = receiver.updates();
    expect(news.map(({ field, value }) => [field, value.message_template_name, value.event, value.reason])).toEqual([
      ['message_template_status_update', 'order_ready', 'PENDING', 'NONE'],
      ['message_template_status_update', 'bad', 'PENDING', 'NONE'],
      ['message_template_status_update', 'order_ready', 'APPROVED', 'NONE'],
      ['message_template_status_update', 'bad', 'REJECTED', 'SCAM'],
    ]);
    expect(news[2]?.value).toMatchObject({
      message_template_id: Number(body.id),
      message_template_category: 'MARKETING',
    });
    expect(news[3]?.value.rejection_info).toEqual({ reason: expect.any(String), recommendation: expect.any(String) });
  });

  test('several languages at once: approved, each by itself', async () => {
    const components = otp();
    const codes = { name: 'codes', languages: ['en_US', 'es'], category: 'AUTHENTICATION', components };
    await simulator.post(`${firstWaba}/upsert_message_templates`, codes);
    const news = (await told()).map(({ value }) => [value.message_template_language, value.event]);
    expect(news).toEqual([
      ['en-US', 'APPROVED'],
      ['es', 'APPROVED'],
    ]);
  });

  test('pauses, their ends, and DISABLED', async () => {
    for (const seconds of [3 * 3_600, 6 * 3_600, 0]) {
      await simulator.control('POST', `templates/${orderUpdate}/pause`);
      await wait(seconds);
    }
    const news = receiver.updates().map(({ value }) => [value.event, value.other_info.title, value.disable_info]);
    expect(news).toEqual([
      ['PAUSED', 'FIRST_PAUSE', undefined],
      ['APPROVED', 'UNPAUSE', undefined],
      ['PAUSED', 'SECOND_PAUSE', undefined],
      ['APPROVED', 'UNPAUSE', undefined],
      ['DISABLED', 'DISABLED', { disable_date: '1795208400' }],
    ]);
  });

  test('quality and category by control', async () => {
    await change({ quality_score: { score: 'RED' } });
    await change({ category: 'MARKETING' });
    await change({ correct_category: 'UTILITY' });
    expect(await values()).toEqual([
      ['message_template_quality_update', { ...named, previous_quality_score: 'GREEN', new_quality_score: 'RED' }],
      ['template_category_update', { ...named, previous_category: 'UTILITY', new_category: 'MARKETING' }],
      [
        'template_category_update',
        {
          ...named,
          new_category: 'MARKETING',
          correct_category: 'UTILITY',
          category_update_timestamp: 1_795_176_000 + 86_400,
        },
      ],
    ]);
  });

  test('an edit tells the components first', async () => {
    const components = [
      { type: 'HEADER', format: 'TEXT', text: 'News' },
      bodyOf('Hello {{1}}, look again.'),
      { type: 'FOOTER', text: 'Andes' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Visit', url: 'https://andes.example.com' }] },
    ];
    await simulator.post(orderUpdate, { components });
    const [first, second] = await values();
    expect(first).toEqual([
      'message_template_components_update',
      {
        ...named,
        message_template_element: 'Hello {{1}}, look again.',
        message_template_title: 'News',
        message_template_footer: 'Andes',
        message_template_buttons: [
          {
            message_template_button_type: 'URL',
            message_template_button_text: 'Visit',
            message_template_button_url: 'https://andes.example.com',
          },
        ],
      },
    ]);
    expect(second).toEqual(['message_template_status_update', expect.objectContaining({ event: 'PENDING' })]);
  });

  test('a deletion, planned or done; nothing where nothing changed', async () => {
    await change({ message_send_ttl_seconds: 60 });
    await change({ status: 'PENDING_DELETION' });
    await simulator.call('DELETE', `/v25.0/${firstWaba}/message_templates?name=welcome_offer`);
    const news = (await told()).map(({ value }) => [value.message_template_name, value.event, value.reason]);
    expect(news).toEqual([
      ['order_update', 'PENDING_DELETION', null],
      ['welcome_offer', 'DELETED', 'NONE'],
    ]);
  });
});

describe('news of numbers', () => {
  const change = (changes: object) => simulator.control('POST', `numbers/${firstNumber}`, changes);

  test('a throughput that rises is told; nothing of quality, limit, or a throughput that falls', async () => {
    await change({ quality_rating: 'RED' });
    await change({ whatsapp_business_manager_messaging_limit: 'TIER_2K' });
    for (const level of ['STANDARD', 'NOT_APPLICABLE']) await change({ throughput: { level } });
    expect(await told()).toEqual([]);
    await change({ throughput: { level: 'HIGH' } });
    expect((await told()).map(({ field, value }) => [field, value])).toEqual([
      [
        'phone_number_quality_update',
        {
          display_phone_number: '5491100000001',
          event: 'THROUGHPUT_UPGRADE',
          current_limit: 'TIER_2K',
          max_daily_conversations_per_business: 'TIER_2K',
        },
      ],
    ]);
  });

  test('a status alone tells nothing; another throughput counts at once', async () => {
    await simulator.control('POST', `numbers/${firstNumber}`, { status: 'RESTRICTED' });
    expect(await told()).toEqual([]);
    await simulator.control('POST', `numbers/${firstNumber}`, { throughput: { level: 'STANDARD' } });
    const [number] = (await simulator.control('GET', 'sending')).body.data;
    expect(number).toMatchObject({ phone_number_id: firstNumber, limit_per_second: 80 });
  });
});
