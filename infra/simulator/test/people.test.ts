import { describe, expect, test } from 'vitest';
import { ContactBook } from '../src/contact-book.ts';
import { Threads } from '../src/threads.ts';
import { actingPeople, userId } from './support/acting-people.ts';
import { hearing } from './support/heard.ts';
import { expectMessagingError } from './support/refusals.ts';
import { firstNumber, firstWaba, recipient, simulatorOfFile, templateMessage } from './support/simulator.ts';

/* People do more than answer: they stop marketing messages, adopt usernames, and write first. */

const simulator = simulatorOfFile({ afresh: true });
const heard = hearing(simulator);
const { person, sent, textTo, says, overview } = actingPeople(simulator);
const secondNumber = '300000000000002';
const day = 24 * 3_600;

describe('a stop of marketing messages', () => {
  const stop = (more: object = {}) => person('/preference', { value: 'stop', ...more });
  const resume = () => person('/preference', { value: 'resume' });

  test('and a resume are told by user_preferences, to the letter', async () => {
    await stop();
    await resume();
    const contact = { wa_id: recipient, user_id: userId };
    const told = (value: string) => ({
      wabaId: firstWaba,
      field: 'user_preferences',
      value: {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: '5491100000001', phone_number_id: firstNumber },
        contacts: [{ profile: { name: `Recipient ${recipient}` }, ...contact }],
        user_preferences: [
          {
            ...contact,
            detail: `User requested to ${value} marketing messages`,
            category: 'marketing_messages',
            value,
            timestamp: 1_795_176_000,
          },
        ],
      },
    });
    expect(await heard.changes()).toEqual([told('stop'), told('resume')]);
    expect(await heard.timed()).toEqual([]);
  });

  test('MARKETING is accepted and fails later, 131050; other categories and other numbers are not affected', async () => {
    await stop();
    expect((await overview()).stopped).toEqual([{ phone_number_id: firstNumber, to: recipient, answer: 'failed' }]);
    const answer = await sent('welcome_offer', { to: recipient });
    expect([answer.status, answer.body.messages[0].message_status]).toEqual([200, 'accepted']);
    await heard.wait(4);
    const [failed] = await heard.statuses();
    expect([failed.id, failed.status, failed.errors[0].code, failed.errors[0].title]).toEqual([
      answer.body.messages[0].id,
      'failed',
      131050,
      'Unable to deliver the message. This recipient has chosen to stop receiving marketing messages on WhatsApp from your business',
    ]);
    heard.forget();
    await sent('order_update', { to: recipient });
    await sent('login_code', { to: recipient });
    await sent('welcome_offer', { to: recipient }, secondNumber);
    await sent('welcome_offer', { to: '5491150000002' });
    await says();
    await textTo({ to: recipient });
    await heard.wait(4);
    expect([await heard.failures(), (await heard.statuses()).length]).toEqual([[], 15]);
  });

  test('by /marketing_messages and by user id too; until a resume', async () => {
    await stop();
    const offer = { name: 'bid_offer', language: { code: 'en_US' } };
    await simulator.post(`${firstNumber}/marketing_messages`, { ...templateMessage('bid_offer', []), template: offer });
    await sent('welcome_offer', { recipient: userId });
    await heard.wait(4);
    expect(await heard.failures()).toEqual([131050, 131050]);
    await resume();
    expect((await overview()).stopped).toEqual([]);
    heard.forget();
    await sent('welcome_offer', { to: recipient });
    await heard.wait(4);
    expect(await heard.failures()).toEqual([]);
  });

  test('refused at once, by choice', async () => {
    await stop({ answer: 'refused' });
    expectMessagingError(await sent('welcome_offer', { to: recipient }), 400, 131050, undefined);
    expect((await sent('order_update', { to: recipient })).status).toBe(200);
  });

  test('a signup also ends it, and names its link', async () => {
    await stop();
    await person('/preference', { value: 'signup' });
    const preferences = (await heard.values('user_preferences')).map((value) => value.user_preferences[0]);
    expect(preferences[1]).toEqual({
      ...{ wa_id: recipient, user_id: userId, category: 'marketing_messages', timestamp: 1_795_176_000 },
      ...{ detail: 'User signed up via signup link', value: 'signup', signup_id: '800000000000001' },
    });
    expect((await overview()).stopped).toEqual([]);
  });

  test('counts at once, whenever and however often the webhook comes; its time is that of the act', async () => {
    const other = '5491150000002';
    await stop({ told_in_seconds: 60, copies: 2 });
    await heard.wait(10);
    await resume();
    await person('/preference', { value: 'stop', told_in_seconds: null }, other);
    const answers = [await sent('welcome_offer', { to: recipient }), await sent('welcome_offer', { to: other })];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await heard.wait(50);
    expect(await heard.failures()).toEqual([131050]);
    const told = (await heard.values('user_preferences')).map(({ user_preferences: [one] }) => [
      one.value,
      one.timestamp,
    ]);
    expect(told).toEqual([
      ['resume', 1_795_176_010],
      ['stop', 1_795_176_000],
      ['stop', 1_795_176_000],
    ]);
    await heard.wait(8 * day);
    expect(await heard.changes('user_preferences')).toHaveLength(3);
  });

  test('a magic recipient stops by itself once the first marketing message has arrived', async () => {
    const to = '15550231050';
    await sent('order_update', { to });
    await sent('welcome_offer', { to });
    await sent('welcome_offer', { to });
    await heard.wait(0);
    expect((await overview()).stopped).toEqual([]);
    await heard.wait(1);
    expect((await heard.values('user_preferences')).map((value) => value.user_preferences[0])).toEqual([
      expect.objectContaining({ wa_id: to, value: 'stop', timestamp: 1_795_176_001 }),
    ]);
    await sent('welcome_offer', { to });
    await sent('order_update', { to });
    await heard.wait(4);
    expect([await heard.failures(), (await heard.changes('user_preferences')).length]).toEqual([[131050], 1]);
  });
});

describe('a username', () => {
  const adopt = (username: string | null, to = recipient) =>
    simulator.control('POST', `recipients/${to}`, { username });
  const contacts = async () =>
    (await heard.changes('messages')).flatMap(({ value }) => value.contacts.map((each: object) => each));

  test('hides the number from a business that does not know it: in inbound messages and in statuses', async () => {
    expect((await adopt('ana.ruiz')).body).toEqual({ to: recipient, blocked: false, username: 'ana.ruiz' });
    await says();
    await sent('order_update', { recipient: userId });
    await heard.wait(4);
    const [incoming] = await heard.changes('messages');
    expect(incoming?.value.contacts).toEqual([
      { profile: { name: 'Recipient ana.ruiz', username: 'ana.ruiz' }, user_id: userId },
    ]);
    expect(Object.keys(incoming?.value.messages[0])).toEqual(['from_user_id', 'timestamp', 'id', 'type', 'text']);
    const named = { profile: { username: 'ana.ruiz' }, user_id: userId };
    expect((await contacts()).slice(1)).toEqual([{ user_id: userId }, named, named]);
    expect((await heard.statuses()).map((status) => 'recipient_id' in status)).toEqual([false, false, false]);
  });

  test('does not hide a number to which the business has sent: the answer and the statuses always have it', async () => {
    await adopt('ana.ruiz');
    const { body } = await sent('order_update', { to: recipient });
    expect(body.contacts).toEqual([{ input: recipient, wa_id: recipient }]);
    await heard.wait(4);
    await says();
    const known = { wa_id: recipient, user_id: userId };
    expect(await contacts()).toEqual([
      known,
      { profile: { username: 'ana.ruiz' }, ...known },
      { profile: { username: 'ana.ruiz' }, ...known },
      { profile: { name: `Recipient ${recipient}`, username: 'ana.ruiz' }, ...known },
    ]);
  });

  test('after a removal from the contact book, the number that knows a person keeps knowing them for 30 days', async () => {
    const strike = () =>
      simulator.call('DELETE', `/v25.0/${firstNumber}/contact_book?messaging_product=whatsapp&bsuid=${userId}`);
    await says();
    await adopt('ana.ruiz');
    expect((await strike()).body).toEqual({ messaging_product: 'whatsapp', success: true, deleted: true });
    expect((await strike()).body.deleted).toBe(false);
    const book = new ContactBook();
    const viewer = { portfolioId: '4', numberId: '3' };
    book.met(viewer, recipient, 0);
    book.forget('4', recipient);
    const thirtyDaysMs = 30 * day * 1_000;
    expect([
      book.knows(viewer, recipient, thirtyDaysMs - 1),
      book.knows(viewer, recipient, thirtyDaysMs),
      book.knows({ ...viewer, numberId: '5' }, recipient, 1),
    ]).toEqual([true, false, false]);
    await heard.wait(30 * day);
    heard.forget();
    await says();
    expect(await contacts()).toEqual([expect.not.objectContaining({ wa_id: recipient })]);
    await adopt(null);
    heard.forget();
    await says();
    expect(await contacts()).toEqual([
      { profile: { name: `Recipient ${recipient}` }, wa_id: recipient, user_id: userId },
    ]);
  });

  test('of a person who stops: no number in user_preferences', async () => {
    await adopt('ana.ruiz');
    await person('/preference', { value: 'stop' });
    const [value] = await heard.values('user_preferences');
    expect([value.contacts[0].wa_id, value.user_preferences[0].wa_id]).toEqual([undefined, undefined]);
    expect(value.user_preferences[0].user_id).toBe(userId);
  });
});

describe('a thread that another responder owns', () => {
  const owned = (owner: string) => person('/thread', { owner });

  test('what the person writes comes as standby; texts are refused, 131070, templates go on', async () => {
    await says();
    await owned('other');
    expect((await overview()).threads).toEqual([{ phone_number_id: firstNumber, to: recipient }]);
    await says(recipient, 'STOP');
    await says('5491150000002');
    const told = (await heard.changes()).map(({ field, value }) => [field, value.messages[0].text.body]);
    expect(told).toEqual([
      ['messages', 'Hi'],
      ['standby', 'STOP'],
      ['messages', 'Hi'],
    ]);
    expectMessagingError(await textTo({ to: recipient }), 400, 131070, undefined);
    expect((await sent('order_update', { to: recipient })).status).toBe(200);
    await owned('none');
    expect((await textTo({ to: recipient })).status).toBe(200);
    await says();
    expect((await heard.changes()).at(-1)?.field).toBe('messages');
    expect(await heard.timed()).toEqual([]);
  });

  test('is free again after 24 hours without a word', () => {
    const threads = new Threads();
    const dayMs = day * 1_000;
    threads.own('3', recipient, 0);
    threads.wrote('3', recipient, dayMs - 1);
    expect([threads.isOwned('3', recipient, 2 * dayMs - 2), threads.isOwned('3', recipient, 2 * dayMs - 1)]).toEqual([
      true,
      false,
    ]);
  });
});

test.each<[string, object, string]>([
  ['/preference', { value: 'pause' }, 'value'],
  ['/preference', { value: 'resume', answer: 'refused' }, 'answer'],
  ['/preference', { value: 'stop', told_in_seconds: -1 }, 'told_in_seconds'],
  ['/preference', { value: 'stop', copies: 0 }, 'copies'],
  ['/preference', { value: 'stop', phone_number_id: '1' }, 'phone_number_id'],
  ['/thread', { owner: 'us' }, 'owner'],
  ['/identity', { told_as: 'user_changed_number' }, 'told_as'],
  ['/identity', { number: '12a' }, 'number'],
])('recipients%s %j: 400, %s', async (call, body, field) => {
  const { status, body: refusal } = await person(call, body);
  expect([status, refusal.field]).toEqual([400, field]);
});
