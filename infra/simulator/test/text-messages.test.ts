import { describe, expect, test } from 'vitest';
import { receiverOfFile } from './support/receiver-of-file.ts';
import { firstNumber, recipient, simulatorOfFile } from './support/simulator.ts';

/* Client libraries converse in free-form texts, which need inbound messages and user ids. */

const simulator = simulatorOfFile({ afresh: true });
const day = 24 * 3_600;
const receiver = receiverOfFile(simulator);
const { wait } = receiver;

const values = () =>
  receiver.calls.flatMap(({ bytes }) =>
    JSON.parse(bytes.toString()).entry.flatMap(({ changes }: { changes: { value: object }[] }) =>
      changes.map(({ value }) => value),
    ),
  );
const statuses = () => values().flatMap((value) => value.statuses ?? []);
const says = async (text: string, to = recipient) =>
  (await simulator.control('POST', `recipients/${to}/message`, { phone_number_id: firstNumber, text })).body;
const textMessage = {
  messaging_product: 'whatsapp',
  type: 'text',
  text: { body: 'Hello *you* {{1}}', preview_url: true },
};
const textTo = (whom: object) => simulator.post(`${firstNumber}/messages`, { ...textMessage, ...whom });

describe('a text', () => {
  test('within 24 hours of what the person wrote: taken, delivered, free', async () => {
    await says('Hi');
    await wait(day - 1);
    const { status, body } = await textTo({ to: recipient, context: { message_id: 'wamid.x' } });
    expect([status, body]).toEqual([
      200,
      {
        messaging_product: 'whatsapp',
        contacts: [{ input: recipient, wa_id: recipient }],
        messages: [{ id: expect.stringMatching(/^wamid\./) }],
      },
    ]);
    await wait(3);
    const pricing = { billable: false, pricing_model: 'PMP', type: 'free_customer_service', category: 'service' };
    expect(statuses()).toMatchObject([
      { status: 'sent', pricing },
      { status: 'delivered', pricing },
      { status: 'read' },
    ]);
  });

  test.each([
    ['when the person has never written', () => Promise.resolve()],
    ['a day later', () => says('Hi').then(() => wait(day))],
    ['to somebody else', () => says('Hi', '5491150000002')],
  ])('%s: taken, and failed by webhook, 131047', async (_, before) => {
    await before();
    expect((await textTo({ to: recipient })).status).toBe(200);
    await wait(1);
    expect(statuses()).toMatchObject([{ status: 'failed', errors: [{ code: 131047 }] }]);
  });

  test('an answer to a template lets texts through too; the inbox shows them', async () => {
    const { body } = await simulator.send(recipient);
    const id = encodeURIComponent(body.messages[0].id);
    await simulator.control('POST', `messages/${id}/reply`, { text: 'When?' });
    const sent = await textTo({ to: recipient });
    await wait(10);
    expect(statuses().map(({ status }) => status)).not.toContain('failed');
    const inbox = await simulator.control('GET', 'inbox');
    expect(inbox.body.data[0]).toMatchObject({ template: '', category: 'SERVICE', preview: 'Hello you {{1}}' });
    const detail = await simulator.control('GET', `messages/${encodeURIComponent(sent.body.messages[0].id)}`);
    expect(detail.body.components).toEqual([{ type: 'BODY', text: 'Hello *you* {{1}}' }]);
    expect((await simulator.control('GET', 'messages?template=order_update')).body.total).toBe(1);
  });
});

describe('a person', () => {
  test('writes: who it is, by number and by the id that the business knows', async () => {
    const { id, user_id: userId } = await says('Hello?');
    expect(userId).toMatch(/^AR\.\d{20}$/);
    expect(values()).toEqual([
      {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: '5491100000001', phone_number_id: firstNumber },
        contacts: [{ profile: { name: `Recipient ${recipient}` }, wa_id: recipient, user_id: userId }],
        messages: [
          {
            from: recipient,
            from_user_id: userId,
            id,
            timestamp: '1795176000',
            type: 'text',
            text: { body: 'Hello?' },
          },
        ],
      },
    ]);
    expect((await says('Hello?')).id).not.toBe(id);
  });

  test('is answered by that id: the same person, who has written', async () => {
    const { user_id: userId } = await says('Hello?');
    const { body } = await textTo({ recipient: userId });
    expect(body.contacts).toEqual([{ input: userId, user_id: userId }]);
    await wait(3);
    expect(statuses()).toMatchObject([{ status: 'sent', recipient_id: recipient }, {}, { status: 'read' }]);
    expect((await simulator.control('GET', `messages?to=${recipient}`)).body.total).toBe(1);
  });

  test.each([
    ['no number', '5491150000001x', { phone_number_id: firstNumber, text: 'Hi' }, /^id /],
    ['to a number that is none', recipient, { phone_number_id: '1', text: 'Hi' }, /^phone_number_id /],
    ['nothing', recipient, { phone_number_id: firstNumber, text: '' }, /^text/],
  ])('%s: 400', async (_, from, body, message) => {
    const answer = await simulator.control('POST', `recipients/${from}/message`, body);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe('a read mark', () => {
  const mark = { messaging_product: 'whatsapp', status: 'read', message_id: 'wamid.x' };

  test.each([
    ['alone', mark],
    ['with a sign of typing', { ...mark, typing_indicator: { type: 'text' } }],
  ])('%s: success, and no message', async (_, body) => {
    const answer = await simulator.post(`${firstNumber}/messages`, body);
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect((await simulator.control('GET', 'messages')).body.total).toBe(0);
  });

  test.each<[object, number, RegExp]>([
    [{ status: 'delivered' }, 100, /status must be one of \{READ\}/],
    [{ message_id: undefined }, 100, /message_id is required/],
    [{ message_id: '17' }, 131009, /./],
    [{ typing_indicator: { type: 'audio' } }, 100, /typing_indicator/],
  ])('%j: refused', async (changes, code, message) => {
    const { status, body } = await simulator.post(`${firstNumber}/messages`, { ...mark, ...changes });
    expect([status, body.error.code, body.error.message]).toEqual([400, code, expect.stringMatching(message)]);
  });
});
