import { describe, expect, test } from 'vitest';
import { MessagingLimits } from '../src/portfolios/messaging-limits.ts';
import { creation, otp } from './support/definitions.ts';
import { hearing } from './support/heard.ts';
import { expectMessagingError } from './support/refusals.ts';
import {
  firstNumber,
  firstWaba,
  recipient,
  secondWaba,
  simulatorOfFile,
  templateMessage,
  thirdNumber,
} from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

/* All numbers of a business portfolio share its limits. The portfolio of the first WABA has two numbers. */

const simulator = simulatorOfFile({ afresh: true });
const heard = hearing(simulator);
const portfolio = '400000000000001';
const limitField = 'whatsapp_business_manager_messaging_limit';
const secondNumber = '300000000000002';
const day = 24 * 3_600;

const person = (place: number) => String(5_491_150_000_000 + place);
const limited = (tier: string, more: object = {}) =>
  simulator.control('POST', `businesses/${portfolio}`, { [limitField]: tier, ...more });
const toldOf = async () => {
  const { businesses } = (await simulator.control('GET', 'overview')).body;
  return businesses.find(({ id }: { id: string }) => id === portfolio);
};
async function sendTo(...places: readonly number[]) {
  for (const place of places) await simulator.send(person(place));
}
const upTo = (count: number) => Array.from({ length: count }, (_, place) => place);

describe('the messaging limit', () => {
  test.each([
    ['TIER_50', 50, { max_phone_numbers_per_business: 2 }],
    ['TIER_250', 250, { max_phone_numbers_per_business: 2 }],
    ['TIER_2K', 2_000, { max_phone_numbers_per_waba: 25 }],
    ['TIER_10K', 10_000, { max_phone_numbers_per_waba: 25 }],
    ['TIER_UNLIMITED', -1, { max_phone_numbers_per_waba: 25 }],
  ])('%s: shown by business, WABA and number, told as %i or as the word', async (tier, people, numbers) => {
    await limited(tier);
    for (const node of [portfolio, firstWaba, firstNumber, secondNumber]) {
      expect((await simulator.get(node, { fields: limitField })).body).toEqual({ id: node, [limitField]: tier });
    }
    expect((await simulator.get(secondWaba, { fields: limitField })).body[limitField]).toBe('TIER_10K');
    expect(await heard.changes()).toEqual([
      {
        wabaId: firstWaba,
        field: 'business_capability_update',
        value: { max_daily_conversations_per_business: people, ...numbers },
      },
    ]);
    await limited(tier);
    expect(await heard.changes()).toHaveLength(1);
    expect(await heard.timed()).toEqual(['business_capability_update']);
    await simulator.control('POST', 'reset');
    await limited(tier, { told_as: 'tier' });
    expect((await heard.values('business_capability_update')).at(-1).max_daily_conversations_per_business).toBe(tier);
  });

  test('what the seed says is only shown: more than TIER_10K can be sent to', async () => {
    const limits = new MessagingLimits();
    for (const place of upTo(10_001)) limits.delivers(portfolio, person(place), 0);
    expect(limits.brokenBy(portfolio, 'one more', 0)).toBeUndefined();
    expect((await toldOf()).enforced).toBeNull();
  });

  test('one person more fails later, 131048; the day’s other people still receive, from any number', async () => {
    await sendTo(...upTo(49));
    await limited('TIER_50');
    await sendTo(49, 50, 0);
    await simulator.send(person(51), {}, secondNumber);
    await simulator.send(person(1), {}, secondNumber);
    const template = { name: 'appointment_reminder', language: { code: 'pt_BR' } };
    expect((await simulator.send(person(52), { template }, thirdNumber)).body.error.code).toBe(132000);
    await heard.wait(4);
    expect(await heard.failures()).toEqual([131048, 131048]);
    expect(await toldOf()).toMatchObject({ people: 50, enforced: { beyond: 'failed', code: 131048 } });
  });

  test('24 hours: a delivery at 12:00:01 counts until 12:00:01 of the next day', async () => {
    await limited('TIER_50');
    await sendTo(...upTo(50));
    await heard.wait(day);
    expect(await heard.failures()).toEqual([]);
    await sendTo(50);
    await heard.wait(1);
    expect(await heard.failures()).toEqual([131048]);
    await sendTo(51);
    await heard.wait(4);
    expect(await heard.failures()).toEqual([131048]);
  });

  test('at once and with another code, by choice', async () => {
    await limited('TIER_50', { beyond: 'refused', code: 130429 });
    await sendTo(...upTo(50));
    expectMessagingError(await simulator.send(person(50)), 400, 130429, undefined);
    expect((await simulator.control('GET', 'messages')).body.total).toBe(50);
  });

  test('a person without a delivery does not count, and neither does one who has written', async () => {
    await simulator.send('15550131026');
    await simulator.control('POST', `recipients/${person(1)}`, { blocked: true });
    await sendTo(1);
    await simulator.control('POST', `recipients/${person(2)}/message`, { phone_number_id: firstNumber, text: 'Hi' });
    await sendTo(2);
    expect((await toldOf()).people).toBe(0);
    await simulator.send(person(2), {}, secondNumber);
    expect((await toldOf()).people).toBe(1);
    await limited('TIER_50');
    await sendTo(...upTo(60).map((place) => place + 100));
    await heard.wait(4);
    expect(await heard.failures()).toEqual([131026, ...Array.from({ length: 11 }, () => 131048)]);
    heard.forget();
    await sendTo(2);
    await heard.wait(4);
    expect(await heard.failures()).toEqual([]);
  });

  test('a reset ends it', async () => {
    await limited('TIER_50');
    await simulator.control('POST', 'reset');
    expect(await toldOf()).toMatchObject({ [limitField]: 'TIER_100K', enforced: null, people: 0, pacing: null });
  });
});

describe('pacing (platform reference, 2.10)', () => {
  const pacing = (body: object) => simulator.control('POST', `businesses/${portfolio}/pacing`, body);
  const outcome = (body: object) => simulator.control('POST', `businesses/${portfolio}/pacing/outcome`, body);
  const wordOf = async (place: number, number = firstNumber) =>
    (await simulator.send(person(place), {}, number)).body.messages[0].message_status;
  const statusesOf = async () => (await heard.statuses()).map(({ status, recipient_id: to }) => `${status} ${to}`);
  const held = 'held_for_quality_assessment';

  test('the first ones are accepted, the next are held for all numbers; the other portfolio is not affected', async () => {
    await pacing({ accepts: 2 });
    const words = [await wordOf(1), await wordOf(2, secondNumber), await wordOf(3), await wordOf(4, secondNumber)];
    expect(words).toEqual(['accepted', 'accepted', held, held]);
    const code = templateMessage('login_code', validSends.login_code.components);
    const { body } = await simulator.post(`${firstNumber}/messages`, code);
    expect(body.messages[0].message_status).toBe(held);
    await heard.wait(60);
    const told = await statusesOf();
    expect([told.length, told.filter((one) => !/000[12]$/.test(one))]).toEqual([6, []]);
    const since = '2026-11-20T12:00:00.000Z';
    expect((await toldOf()).pacing).toEqual({ accepts: 0, held: 3, since });
    // A second pacing command keeps the time of the first.
    await pacing({ accepts: 5 });
    expect((await toldOf()).pacing).toEqual({ accepts: 5, held: 3, since });
  });

  test('released: in batches, the oldest first, then all of them, and it is over', async () => {
    await pacing({ accepts: 0 });
    for (const place of [1, 2, 3]) await wordOf(place);
    await heard.wait(3_600);
    await outcome({ outcome: 'released', messages: 1 });
    await heard.wait(4);
    expect(await statusesOf()).toEqual(['sent', 'delivered', 'read'].map((status) => `${status} ${person(1)}`));
    expect(await wordOf(4)).toBe(held);
    await outcome({ outcome: 'released' });
    await heard.wait(4);
    const told = await heard.statuses();
    expect(told.filter(({ status }) => status === 'read').map(({ recipient_id: to }) => to)).toEqual(
      [1, 2, 3, 4].map(person),
    );
    expect(Number(told.at(-1).timestamp)).toBeGreaterThan(Date.parse('2026-11-20T13:00:00Z') / 1_000);
    expect([await wordOf(5), (await toldOf()).pacing]).toEqual(['accepted', null]);
    const { body } = await simulator.control('GET', 'inbox');
    expect(body.data.map((row: { told: unknown[] }) => row.told.length)).toEqual([3, 3, 3, 3, 3]);
  });

  test('dropped: each held one fails, 135000, and the portfolio may neither send nor create until that is over', async () => {
    await pacing({ accepts: 1 });
    for (const place of [1, 2, 3]) await wordOf(place);
    await heard.wait(4);
    heard.forget();
    await outcome({ outcome: 'dropped' });
    const failed = await heard.statuses();
    expect(failed.map(({ status, recipient_id: to, errors }) => [status, to, errors[0].code])).toEqual([
      ['failed', person(2), 135000],
      ['failed', person(3), 135000],
    ]);
    expectMessagingError(await simulator.send(person(4)), 403, 368, /reviewed/);
    expect((await simulator.send(person(4), {}, secondNumber)).body.error.code).toBe(368);
    const create = () => simulator.post(`${firstWaba}/message_templates`, creation());
    const codes = { name: 'codes', languages: ['es'], category: 'AUTHENTICATION', components: otp() };
    const upsert = () => simulator.post(`${firstWaba}/upsert_message_templates`, codes);
    expect([(await create()).body.error.code, (await upsert()).body.error.code]).toEqual([368, 368]);
    expect((await simulator.post(`${secondWaba}/message_templates`, creation())).status).toBe(200);
    expect((await toldOf()).pacing).toEqual({ review_code: 368, review_since: expect.any(String) });
    await simulator.control('DELETE', `businesses/${portfolio}/pacing`);
    expect([(await create()).status, (await upsert()).status, await wordOf(4)]).toEqual([200, 200, 'accepted']);
  });

  test('meanwhile refused with another code, by choice, and not healthy', async () => {
    await outcome({ outcome: 'dropped', code: 131031 });
    expect((await simulator.send(person(1))).body.error.code).toBe(131031);
    for (const node of [firstWaba, firstNumber]) {
      const { can_send_message: health, entities } = (await simulator.get(node, { fields: 'health_status' })).body
        .health_status;
      expect([health, entities.at(-1)]).toEqual([
        'BLOCKED',
        {
          entity_type: 'BUSINESS',
          id: portfolio,
          can_send_message: 'BLOCKED',
          errors: [expect.objectContaining({ error_code: 131031 })],
        },
      ]);
    }
  });

  test.each([
    ['released', ['sent', 'delivered', 'read']],
    ['dropped', ['failed']],
  ])('by itself after a time: %s, and not before', async (how, statuses) => {
    await pacing({ accepts: 0, outcome: how, ends_in_seconds: 600 });
    await wordOf(1);
    expect((await toldOf()).pacing).toMatchObject({ outcome: how, ends_at: '2026-11-20T12:10:00.000Z' });
    await heard.wait(599);
    expect([await statusesOf(), (await toldOf()).pacing.held]).toEqual([[], 1]);
    await heard.wait(1);
    expect((await heard.statuses()).map(({ status }) => status)).toEqual(statuses.slice(0, 1));
    await heard.wait(4);
    expect((await heard.statuses()).map(({ status }) => status)).toEqual(statuses);
  });

  test('a held message counts for the limit when it is released, and not when it is dropped', async () => {
    await pacing({ accepts: 0 });
    await wordOf(1);
    expect((await toldOf()).people).toBe(0);
    await outcome({ outcome: 'released', messages: 1 });
    expect((await toldOf()).people).toBe(1);
    await wordOf(2);
    await outcome({ outcome: 'dropped' });
    expect((await toldOf()).people).toBe(1);
  });

  test('texts are not paced', async () => {
    await pacing({ accepts: 0 });
    await simulator.control('POST', `recipients/${recipient}/message`, { phone_number_id: firstNumber, text: 'Hi' });
    const text = { messaging_product: 'whatsapp', to: recipient, type: 'text', text: { body: 'Hello' } };
    expect((await simulator.post(`${firstNumber}/messages`, text)).body.messages).toEqual([{ id: expect.any(String) }]);
    await heard.wait(4);
    expect((await heard.statuses()).map(({ status }) => status)).toEqual(['sent', 'delivered', 'read']);
  });
});
