import { describe, expect, test } from 'vitest';
import { controlRoutes } from '../src/control.ts';
import { magicRecipients } from '../src/magic-recipients.ts';
import { magicWords } from '../src/templates/magic-words.ts';
import {
  firstNumber,
  firstWaba,
  recipient,
  secondWaba,
  simulatorOfFile,
  templateMessage,
} from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });

const limitField = 'whatsapp_business_manager_messaging_limit';
const template = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  language: 'es',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Hola {{1}}, listo.' }],
  ...more,
});

test('the simulator shows its control calls, magic recipients and magic words whole', async () => {
  const { data } = (await simulator.control('GET', 'routes')).body;
  expect(data).toEqual(controlRoutes.map(({ method, path, what }) => ({ method, path, what })));
  const overview = (await simulator.control('GET', 'overview')).body;
  expect(overview.magic_recipients).toEqual(magicRecipients.map(({ to, what }) => ({ to, what })));
  expect(overview.magic_words).toEqual(magicWords.map(({ word, what }) => ({ word, what })));
});

describe('messages', () => {
  test('newest first, by recipient and template, total exact whatever the limit', async () => {
    for (const to of ['5491150000001', '5491150000002', '5491150000001']) await simulator.send(to);
    const find = async (query: string) => {
      const { body } = await simulator.control('GET', `messages?${query}`);
      return [body.total, body.data.map((message: { to: string }) => message.to)];
    };
    expect(await find('')).toEqual([3, ['5491150000001', '5491150000002', '5491150000001']]);
    expect(await find('limit=2')).toEqual([3, ['5491150000001', '5491150000002']]);
    expect(await find('limit=0')).toEqual([3, []]);
    expect(await find('to=5491150000002')).toEqual([1, ['5491150000002']]);
    expect(await find('to=5491150000001&template=order_update&limit=1')).toEqual([2, ['5491150000001']]);
    expect(await find('template=bid_offer')).toEqual([0, []]);
    expect(await find('to=5491150000001&template=bid_offer')).toEqual([0, []]);
  });

  test('100 are shown by default', async () => {
    for (let index = 0; index < 101; index += 1) await simulator.send(String(5491150000000 + index));
    const { body } = await simulator.control('GET', 'messages');
    expect([body.total, body.data.length]).toEqual([101, 100]);
  });
});

describe('requests', () => {
  test('every platform request with query, body and status, newest first; control requests are not among them', async () => {
    await simulator.get(`${firstWaba}/message_templates`, { limit: '1' });
    await simulator.post(`${firstNumber}/messages`, { to: recipient });
    await simulator.call('GET', '/v25.0/nothing');
    const { body } = await simulator.control('GET', 'requests');
    const received_at = '2026-11-20T12:00:00.000Z';
    expect(body).toEqual({
      total: 3,
      data: [
        { method: 'GET', path: '/v25.0/nothing', query: {}, body: null, status: 400, received_at },
        {
          method: 'POST',
          path: `/v25.0/${firstNumber}/messages`,
          query: {},
          body: { to: recipient },
          status: 400,
          received_at,
        },
        {
          method: 'GET',
          path: `/v25.0/${firstWaba}/message_templates`,
          query: { limit: '1' },
          body: null,
          status: 200,
          received_at,
        },
      ],
    });
  });

  test.each([
    ['method=get', 2],
    ['method=POST', 1],
    ['path=/messages', 1],
    ['path=message', 2],
    [`path=${firstWaba}&method=POST`, 0],
    ['limit=1', 3],
  ])('?%s: %i', async (query, total) => {
    await simulator.get(`${firstWaba}/message_templates`);
    await simulator.get(firstWaba);
    await simulator.post(`${firstNumber}/messages`, {});
    expect((await simulator.control('GET', `requests?${query}`)).body.total).toBe(total);
  });
});

describe('templates', () => {
  const changed = '1100000000000001';

  test('a changed status takes effect at once and is dated', async () => {
    await simulator.control('POST', 'clock', { advance_seconds: 3_600 });
    expect((await simulator.control('POST', `templates/${changed}`, { status: 'PAUSED' })).body).toMatchObject({
      id: changed,
      status: 'PAUSED',
    });
    const { body } = await simulator.get(changed, { fields: 'status,last_updated_time' });
    expect(body).toEqual({ id: changed, status: 'PAUSED', last_updated_time: '2026-11-20T13:00:00+0000' });
    expect((await simulator.send(recipient)).body.error.code).toBe(132015);
    await simulator.control('POST', `templates/${changed}`, { status: 'APPROVED' });
    expect((await simulator.send(recipient)).status).toBe(200);
  });

  test('other fields, unknown statuses too; null takes a field away; a new name moves it', async () => {
    const bid = '1100000000000009';
    const { body } = await simulator.control('POST', `templates/${bid}`, {
      name: 'plain_offer',
      status: 'UNHEARD_OF',
      optimization_spec: null,
      quality_score: { score: 'RED', date: 1 },
    });
    expect(body).not.toHaveProperty('optimization_spec');
    const read = await simulator.get(bid, { fields: 'name,status,quality_score,optimization_spec' });
    expect(read.body).toEqual({
      id: bid,
      name: 'plain_offer',
      status: 'UNHEARD_OF',
      quality_score: { score: 'RED', date: 1 },
    });
    const code = async (name: string) =>
      (await simulator.send(recipient, { template: { name, language: { code: 'en_US' } } })).body.error?.code;
    await simulator.control('POST', `templates/${bid}`, { status: 'APPROVED' });
    expect([await code('bid_offer'), await code('plain_offer')]).toEqual([132001, undefined]);
  });

  test('thousands of new ones, listed after the old ones', async () => {
    const templates = Array.from({ length: 3_000 }, (_, index) => template(`bulk_${index}`));
    const added = await simulator.control('POST', 'templates', { waba_id: secondWaba, templates });
    expect(new Set(added.body.ids).size).toBe(3_000);
    const { body } = await simulator.get(`${secondWaba}/message_templates`, {
      summary: 'true',
      name: 'bulk_',
      limit: '2',
    });
    expect(body.summary).toEqual({ total_count: 3_000 });
    expect(body.data.map((one: { id: string }) => one.id)).toEqual(added.body.ids.slice(0, 2));
    expect((await simulator.get(added.body.ids[2_999])).body).toMatchObject({ name: 'bulk_2999', status: 'APPROVED' });
  });

  test('a removed one is gone and its name free', async () => {
    expect((await simulator.control('DELETE', `templates/${changed}`)).status).toBe(200);
    expect((await simulator.get(changed)).body.error).toMatchObject({ code: 100, error_subcode: 33 });
    expect((await simulator.send(recipient)).body.error.code).toBe(132001);
    const again = { waba_id: firstWaba, templates: [template('order_update', { language: 'en_US' })] };
    expect((await simulator.control('POST', 'templates', again)).status).toBe(200);
  });
});

test('the clock', async () => {
  const { body } = await simulator.control('POST', 'clock', { advance_seconds: 90 });
  expect(body).toEqual({ now: '2026-11-20T12:01:30.000Z', advanced_seconds: 90 });
  await simulator.send(recipient);
  expect((await simulator.control('GET', 'messages')).body.data[0].received_at).toBe('2026-11-20T12:01:30.000Z');
});

test('a token is revoked for every request, another is issued with its own rights, and a reset brings the first back', async () => {
  const asked = async (token: string, waba = firstWaba) => {
    const { body } = await simulator.call('GET', `/v25.0/${waba}`, undefined, token);
    return body.error?.code ?? 'read';
  };
  const token = 'demo-platform-token';
  expect((await simulator.control('POST', 'tokens/revoke', { token })).status).toBe(200);
  expect(await asked(token)).toBe(190);
  expect((await simulator.control('POST', 'tokens/revoke', { token })).body).toMatchObject({ field: 'token' });
  expect(await asked('new')).toBe(190);
  expect((await simulator.control('POST', 'tokens', { token: 'new', waba_ids: [firstWaba] })).status).toBe(200);
  expect([await asked('new'), await asked('new', secondWaba)]).toEqual(['read', 200]);
  expect((await simulator.control('POST', 'tokens', { token: 'new', waba_ids: ['1'] })).status).toBe(400);
  await simulator.control('POST', 'reset');
  expect([await asked(token), await asked('new')]).toEqual(['read', 190]);
});

test('reset: back to the seed in every respect', async () => {
  const state = async () => ({
    messages: (await simulator.control('GET', 'messages')).body,
    requests: (await simulator.control('GET', 'requests')).body,
    now: (await simulator.control('POST', 'clock', { advance_seconds: 0 })).body,
    templates: (await simulator.get(`${firstWaba}/message_templates`, { fields: 'name,status,last_updated_time' })).body
      .data,
    usage: (await simulator.get(firstWaba)).headers.get('x-business-use-case-usage'),
    fate: (await simulator.send('15550130429')).status,
  });
  const overview = async () => {
    const { businesses, stopped, threads } = (await simulator.control('GET', 'overview')).body;
    return { businesses, stopped, threads };
  };
  const inForce = await overview();
  const before = await state();
  await simulator.send(recipient);
  const person = { phone_number_id: firstNumber };
  await simulator.control('POST', 'businesses/400000000000001', { [limitField]: 'TIER_50' });
  await simulator.control('POST', 'businesses/400000000000001', { parent_user_ids: true });
  await simulator.control('POST', 'businesses/400000000000001/pacing', { accepts: 0 });
  await simulator.control('POST', `recipients/${recipient}/preference`, { ...person, value: 'stop' });
  await simulator.control('POST', `recipients/${recipient}/thread`, { ...person, owner: 'other' });
  for (let call = 0; call < 60; call += 1) await simulator.get(firstWaba);
  await simulator.send('15550130429');
  await simulator.control('POST', 'clock', { advance_seconds: 60 });
  await simulator.control('POST', 'templates', { waba_id: firstWaba, templates: [template('new_one')] });
  await simulator.control('POST', 'templates/1100000000000001', { status: 'PAUSED' });
  await simulator.control('POST', 'faults', { action: { status: 500 } });
  expect((await simulator.control('POST', 'reset')).body).toEqual({ success: true });
  expect([inForce.stopped, inForce.threads, inForce.businesses[0].people]).toEqual([[], [], 0]);
  expect(await overview()).toEqual(inForce);
  expect(await state()).toEqual(before);
});

test('filters left empty, as the routes are spelled, filter nothing', async () => {
  await simulator.send('5491150000001');
  expect((await simulator.control('GET', 'messages?to=&template=&limit=')).body.total).toBe(1);
  expect((await simulator.control('GET', 'requests?method=&path=&limit=')).body.total).toBe(1);
});

describe('bad input: 400 naming the field', () => {
  test.each<[string, string, unknown, string]>([
    ['GET', 'messages?limit=many', undefined, 'limit'],
    ['GET', 'messages?limit=-1', undefined, 'limit'],
    ['GET', 'messages?too=1', undefined, 'too'],
    ['GET', 'requests?method=FETCH', undefined, 'method'],
    ['POST', 'clock', {}, 'advance_seconds'],
    ['POST', 'clock', { advance_seconds: -1 }, 'advance_seconds'],
    ['POST', 'clock', { advance_seconds: '1' }, 'advance_seconds'],
    ['POST', 'clock', { advance_seconds: 1e15 }, 'advance_seconds'],
    ['POST', 'clock', undefined, 'body'],
    ['POST', 'faults', {}, 'action'],
    ['POST', 'faults', { action: {} }, 'action'],
    ['POST', 'faults', { action: { status: 99 } }, 'action.status'],
    ['POST', 'faults', { action: { status: 200 } }, 'action.status'],
    ['POST', 'faults', { action: { code: 42 } }, 'action.code'],
    ['POST', 'faults', { action: { subcode: 42 } }, 'action.subcode'],
    ['POST', 'faults', { action: { drop: 'never' } }, 'action.drop'],
    ['POST', 'faults', { action: { delay_ms: 0.5 } }, 'action.delay_ms'],
    ['POST', 'faults', { action: { delay: 1 } }, 'action.delay'],
    ['POST', 'faults', { action: { status: 500 }, times: 0 }, 'times'],
    ['POST', 'faults', { action: { status: 500 }, match: { from: '1' } }, 'match.from'],
    ['POST', 'templates', { waba_id: '1', templates: [template('x')] }, 'waba_id'],
    ['POST', 'templates', { waba_id: firstWaba, templates: [] }, 'templates'],
    ['POST', 'templates', { waba_id: firstWaba, templates: [template('x'), template('X y')] }, 'templates.1.name'],
    ['POST', 'templates', { waba_id: firstWaba, templates: [template('x'), template('x')] }, 'templates.1.name'],
    ['POST', 'templates', { waba_id: firstWaba, templates: [template('welcome_offer')] }, 'templates.0.name'],
    ['POST', 'templates/1100000000000001', { status: 5 }, 'status'],
    ['POST', 'templates/1100000000000001', { components: 'none' }, 'components'],
    ['POST', 'templates/1100000000000001', { id: '5' }, 'id'],
    ['POST', 'templates/1100000000000002', { name: 'paused_promo' }, 'name'],
    ['POST', `numbers/${firstNumber}`, { throughput: { level: 'FAST' } }, 'throughput.level'],
    ['POST', `wabas/${firstWaba}/holds`, {}, 'code'],
    ['POST', `wabas/${firstWaba}/holds`, { code: 132015 }, 'code'],
    ['POST', `wabas/${firstWaba}/holds`, { code: 131042, expires_in_seconds: 60 }, 'expires_in_seconds'],
    ['POST', `wabas/${firstWaba}/holds`, { code: 368, expires_in_seconds: 0 }, 'expires_in_seconds'],
    ['POST', `numbers/${firstNumber}/holds`, { code: 131048, expires_in_seconds: 60 }, 'expires_in_seconds'],
    ['POST', `wabas/${firstWaba}/holds`, { code: 131064, later: true }, 'later'],
    ['POST', `wabas/${firstWaba}/holds`, { code: 368, expiration_as: 'date' }, 'expiration_as'],
    ['POST', `wabas/${firstWaba}/warnings`, {}, 'violation_type'],
    ['POST', `wabas/${firstWaba}/warnings`, { violation_type: 'ADULT', phone_number_id: '1' }, 'phone_number_id'],
    ['POST', `wabas/${firstWaba}`, { direct_send: 'SOMETIMES' }, 'direct_send'],
    ['POST', 'businesses/400000000000001', {}, limitField],
    ['POST', 'businesses/400000000000001', { [limitField]: 'TIER_1' }, limitField],
    ['POST', 'businesses/400000000000001', { [limitField]: 'TIER_50', code: 42 }, 'code'],
    ['POST', 'businesses/400000000000001', { parent_user_ids: 'yes' }, 'parent_user_ids'],
    ['POST', 'businesses/400000000000001/pacing', {}, 'accepts'],
    ['POST', 'businesses/400000000000001/pacing', { accepts: 1, ends_in_seconds: 0 }, 'ends_in_seconds'],
    ['POST', 'businesses/400000000000001/pacing/outcome', { outcome: 'lost' }, 'outcome'],
    ['POST', 'businesses/400000000000001/pacing/outcome', { outcome: 'dropped', messages: 1 }, 'messages'],
    ['POST', 'businesses/400000000000001/pacing/outcome', { outcome: 'released', code: 368 }, 'code'],
    ['POST', `recipients/${recipient}`, { username: 'A B' }, 'username'],
    ['DELETE', `numbers/${firstNumber}/holds?code=131042`, undefined, 'code'],
    ['GET', 'webhooks?limit=many', undefined, 'limit'],
    ['POST', 'webhooks', { waba_id: firstWaba, value: {} }, 'field'],
    ['POST', 'webhooks', { waba_id: firstWaba, field: 'messages' }, 'value'],
    ['POST', 'webhooks', { waba_id: firstWaba, field: 'messages', value: {}, in_seconds: -1 }, 'in_seconds'],
    ['POST', 'receipts', {}, 'course'],
    ['POST', 'receipts', { course: { copies: 11 } }, 'course.copies'],
    ['POST', 'receipts', { course: { fail: 42 } }, 'course.fail'],
    ['POST', 'receipts', { course: { order: 'any' } }, 'course.order'],
    ['POST', 'receipts', { course: { late_ms: 0.5 } }, 'course.late_ms'],
    ['POST', 'receipts', { course: { late: 1 } }, 'course.late'],
    ['POST', 'receipts', { course: {}, times: 0 }, 'times'],
    ['POST', 'apps/app', {}, 'id'],
    ['POST', 'apps/500000000000001', { callback_url: 'here' }, 'callback_url'],
    ['POST', 'apps/500000000000001', { secret: '' }, 'secret'],
    ['POST', 'apps/500000000000001', { subscribed_waba_ids: ['1'] }, 'subscribed_waba_ids'],
  ])('%s %s %o: %s', async (method, path, body, field) => {
    const answer = await simulator.control(method, path, body);
    expect([answer.status, answer.body.field]).toEqual([400, field]);
    expect(answer.body.message).toContain(field);
  });

  test.each([
    ['GET', 'nothing', 404],
    ['POST', 'templates/1', 404],
    ['DELETE', 'templates/1', 404],
    ['POST', 'wabas/1/holds', 404],
    ['DELETE', 'wabas/1/holds', 404],
    ['POST', `numbers/${firstWaba}/holds`, 404],
    ['POST', 'wabas/1/warnings', 404],
    ['POST', 'businesses/1', 404],
    ['POST', `businesses/${firstWaba}/pacing`, 404],
    ['DELETE', 'businesses/1/pacing', 404],
    ['GET', 'reset', 405],
    ['PUT', 'templates/1100000000000001', 405],
  ])('%s %s: %i', async (method, path, status) => {
    const answer = await simulator.control(method, path);
    expect([answer.status, typeof answer.body.message]).toEqual([status, 'string']);
  });

  test('nothing of a refused list of templates is added', async () => {
    await simulator.control('POST', 'templates', { waba_id: firstWaba, templates: [template('x'), template('x')] });
    const { body } = await simulator.get(`${firstWaba}/message_templates`, { name: 'x', language: 'es' });
    expect(body.data).toEqual([]);
  });
});

describe('numbers', () => {
  test('a changed quality or status is listed at once; null takes a field away; a reset undoes it', async () => {
    const fields = 'status,quality_rating,messaging_limit_tier';
    const listed = async () => (await simulator.get(`${firstWaba}/phone_numbers`, { fields, limit: '1' })).body.data[0];
    const before = await listed();
    const changes = { status: 'RESTRICTED', quality_rating: 'RED', messaging_limit_tier: null };
    expect(await simulator.control('POST', `numbers/${firstNumber}`, changes)).toMatchObject({ status: 200 });
    expect(await listed()).toEqual({ id: firstNumber, status: 'RESTRICTED', quality_rating: 'RED' });
    await simulator.control('POST', 'reset');
    expect(await listed()).toEqual(before);
  });

  test.each([
    ['unknown number', '1', {}, 404, 'id 1 is no phone number'],
    [
      'unknown field',
      firstNumber,
      { username: 'x' },
      400,
      'username: Invalid key: Expected never but received "username"',
    ],
    ['wrong type', firstNumber, { status: 7 }, 400, 'status: Invalid type: Expected string but received 7'],
  ])('%s is refused', async (_, id, changes, status, message) => {
    const reply = await simulator.control('POST', `numbers/${id}`, changes);
    expect([reply.status, reply.body.message]).toEqual([status, message]);
  });
});

describe('WABAs', () => {
  const status = async () =>
    (await simulator.get(firstWaba, { fields: 'marketing_messages_onboarding_status' })).body[
      'marketing_messages_onboarding_status'
    ];
  const offer = { ...templateMessage('bid_offer', []), to: recipient };
  const sendOffer = async () => (await simulator.post(`${firstNumber}/marketing_messages`, offer)).status;

  test('one that is not onboarded any more is refused on /marketing_messages; a reset undoes it', async () => {
    expect([await status(), await sendOffer()]).toEqual(['ONBOARDED', 200]);
    const changes = { marketing_messages_onboarding_status: 'ELIGIBLE' };
    expect(await simulator.control('POST', `wabas/${firstWaba}`, changes)).toMatchObject({ status: 200 });
    expect([await status(), await sendOffer()]).toEqual(['ELIGIBLE', 400]);
    await simulator.control('POST', `wabas/${firstWaba}`, { marketing_messages_onboarding_status: null });
    expect([await status(), await sendOffer()]).toEqual([undefined, 400]);
    await simulator.control('POST', 'reset');
    expect([await status(), await sendOffer()]).toEqual(['ONBOARDED', 200]);
  });

  test.each([
    ['unknown WABA', '1', {}, 404, 'id 1 is no WABA'],
    ['unknown field', firstWaba, { name: 'x' }, 400, 'name: Invalid key: Expected never but received "name"'],
  ])('%s is refused', async (_, id, changes, code, message) => {
    const reply = await simulator.control('POST', `wabas/${id}`, changes);
    expect([reply.status, reply.body.message]).toEqual([code, message]);
  });
});
