import { describe, expect, test } from 'vitest';
import {
  firstNumber,
  firstWaba,
  recipient,
  simulatorOfFile,
  templateMessage,
  thirdNumber,
} from './support/simulator.ts';
import { type SendableTemplate, validSends } from './support/valid-sends.ts';

const simulator = simulatorOfFile({ afresh: true });

const messageOf = (name: SendableTemplate) =>
  templateMessage(name, validSends[name].components, validSends[name].language);

describe('accepted', () => {
  test.each(Object.keys(validSends) as SendableTemplate[])('%s', async (name) => {
    const edge = name === 'bid_offer' ? 'marketing_messages' : 'messages';
    const answer = await simulator.post(`${firstNumber}/${edge}`, messageOf(name));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      messaging_product: 'whatsapp',
      contacts: [{ input: recipient, wa_id: recipient }],
      messages: [{ id: expect.stringMatching(/^wamid\.[A-Za-z0-9+/]+=*$/), message_status: 'accepted' }],
    });
    const { body } = await simulator.control('GET', `messages?template=${name}`);
    expect(body).toEqual({
      total: 1,
      data: [
        {
          id: answer.body.messages[0].id,
          to: recipient,
          phone_number_id: firstNumber,
          path: `/v25.0/${firstNumber}/${edge}`,
          request: messageOf(name),
          received_at: '2026-11-20T12:00:00.000Z',
        },
      ],
    });
  });

  test('marketing templates through /marketing_messages too, with its own keys', async () => {
    const answer = await simulator.post(`${firstNumber}/marketing_messages`, {
      ...messageOf('welcome_offer'),
      product_policy: 'STRICT',
      message_activity_sharing: false,
      bid_spec: { per_message_bid_multiplier: 1.2 },
    });
    expect(answer.status).toBe(200);
  });

  test('the second WABA', async () => {
    const components = [
      { type: 'header', parameters: [{ type: 'text', text: 'Ana' }] },
      { type: 'body', parameters: ['Ana', '12/11', '15'].map((value) => ({ type: 'text', text: value })) },
    ];
    const message = templateMessage('appointment_reminder', components, 'pt_BR');
    expect((await simulator.post(`${thirdNumber}/messages`, message)).status).toBe(200);
  });

  test('a leading plus is echoed as input and dropped from wa_id', async () => {
    const { body } = await simulator.send(`+${recipient}`);
    expect(body.contacts).toEqual([{ input: `+${recipient}`, wa_id: recipient }]);
    expect((await simulator.control('GET', `messages?to=+${recipient}`)).body.total).toBe(1);
  });

  test('a business-scoped user id in the place of a number', async () => {
    const { to: _, ...message } = messageOf('order_update');
    const answer = await simulator.post(`${firstNumber}/messages`, { ...message, recipient: 'AR.ENT.4f9x' });
    expect(answer.body.contacts).toEqual([{ input: 'AR.ENT.4f9x', user_id: 'AR.ENT.4f9x' }]);
  });

  test.each(['AR.4f9x', 'not an id'])(
    'to a number and to a user id, %j: the number wins, of a code too',
    async (person) => {
      const components = validSends.login_code.components;
      const answer = await simulator.send(recipient, {
        ...templateMessage('login_code', components),
        recipient: person,
      });
      expect(answer.body.contacts).toEqual([{ input: recipient, wa_id: recipient }]);
    },
  );

  test('with the messaging account of the number, by its new name or its old one; the new one wins', async () => {
    const accounts = [
      { messaging_account_id: firstWaba },
      { paid_messaging_account_id: firstWaba },
      { messaging_account_id: firstWaba, paid_messaging_account_id: '1' },
    ];
    for (const account of accounts) expect((await simulator.send(recipient, account)).status).toBe(200);
    const edge = `${firstNumber}/marketing_messages`;
    const offer = { ...messageOf('welcome_offer'), messaging_account_id: firstWaba };
    expect((await simulator.post(edge, offer)).status).toBe(200);
    const { body } = await simulator.control('GET', 'messages');
    expect(body.data[0].request).toEqual(offer);
  });

  test('message ids differ, and are the same again after a reset', async () => {
    const ids = async () =>
      [(await simulator.send(recipient)).body, (await simulator.send(recipient)).body].map(
        (reply) => reply.messages[0].id,
      );
    const [first, second] = await ids();
    expect(first).not.toBe(second);
    await simulator.control('POST', 'reset');
    expect(await ids()).toEqual([first, second]);
  });

  test('the usage header tells of the management calls of the hour, of which a send is none', async () => {
    await simulator.get(firstWaba);
    for (let sends = 0; sends < 50; sends += 1) await simulator.send(`5491155500${String(sends).padStart(3, '0')}`);
    const { headers } = await simulator.send(recipient);
    const used = (percent: number) => ({
      call_count: percent,
      total_cputime: percent,
      total_time: percent,
      estimated_time_to_regain_access: 0,
    });
    expect(JSON.parse(headers.get('x-business-use-case-usage') ?? '')).toEqual({
      [firstWaba]: [
        { type: 'whatsapp_business_management', ...used(1) },
        { type: 'whatsapp', ...used(0) },
      ],
    });
  });
});
