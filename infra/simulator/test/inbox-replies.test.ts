import { describe, expect, test } from 'vitest';
import { statusAt } from '../console/message-status.ts';
import { inboxOf } from './support/inbox-of.ts';
import { receiverOfFile } from './support/receiver-of-file.ts';
import { button, firstNumber, firstWaba, recipient, simulatorOfFile } from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

const simulator = simulatorOfFile({ afresh: true });
const receiver = receiverOfFile(simulator, { subscribed_waba_ids: [firstWaba] });
const { sent, at } = inboxOf(simulator);
const deliveries = () => receiver.calls.map(({ bytes }) => JSON.parse(bytes.toString()));

describe('actions of recipients come by webhook', () => {
  test('a reply, and a button that was pressed', async () => {
    const id = await sent();
    await simulator.control('POST', at(id, '/reply'), { text: '¿Cuándo?' });
    await simulator.control('POST', at(id, '/reply'), { text: 'Lo quiero', payload: 'yes' });
    const incoming = deliveries().flatMap(({ entry }) =>
      entry[0].changes.map((change: { value: object }) => change.value),
    );
    const said = incoming.filter((value) => 'messages' in value);
    expect(said).toHaveLength(2);
    expect(deliveries().flatMap(({ entry }) => entry.map((each: object) => 'time' in each))).not.toContain(true);
    expect(said[0]).toMatchObject({
      messaging_product: 'whatsapp',
      metadata: { phone_number_id: firstNumber },
      contacts: [{ wa_id: recipient, user_id: 'AR.13607919076743524463' }],
      messages: [
        {
          from: recipient,
          from_user_id: 'AR.13607919076743524463',
          type: 'text',
          text: { body: '¿Cuándo?' },
          context: { id },
        },
      ],
    });
    expect(said[1].messages[0]).toMatchObject({ type: 'button', button: { text: 'Lo quiero', payload: 'yes' } });
    expect((await simulator.control('GET', at(id))).body.replies).toMatchObject([
      { text: '¿Cuándo?' },
      { text: 'Lo quiero' },
    ]);
  });

  test('an answer by a button, a row, a form; the message that it answers may be missing', async () => {
    const id = await sent();
    const reply = (body: object) => simulator.control('POST', at(id, '/reply'), body);
    await reply({ text: 'Yes', button_id: 'y' });
    await reply({ text: 'Tuesday', list_id: 'tue', description: 'after noon' });
    await reply({ text: 'Sent', flow: { flow_token: 'f', day: 2 } });
    await reply({ text: 'Stop', payload: 'Stop', has_context: false });
    const messages = deliveries()
      .flatMap(({ entry }) => entry[0].changes.flatMap((change: { value: { messages?: object[] } }) => change.value))
      .flatMap((value: { messages?: object[] }) => value.messages ?? []);
    const context = { from: '5491100000001', id };
    const answer = (type: string, content: object) => ({ context, interactive: { type, [type]: content } });
    expect(messages).toMatchObject([
      answer('button_reply', { id: 'y', title: 'Yes' }),
      answer('list_reply', { id: 'tue', title: 'Tuesday', description: 'after noon' }),
      answer('nfm_reply', { name: 'flow', body: 'Sent', response_json: '{"flow_token":"f","day":2}' }),
      { type: 'button', button: { text: 'Stop', payload: 'Stop' } },
    ]);
    expect(messages.map((message: object) => 'context' in message)).toEqual([true, true, true, false]);
    expect(await reply({ text: 'Yes', button_id: 'y', payload: 'y' })).toMatchObject({ status: 400 });
  });

  test('a tap brings back what the send has put behind the button, else its label; in cards too', async () => {
    const payload = (value: string) => ({ type: 'payload', payload: value });
    const longest = '7'.repeat(128);
    const offer = [...validSends.welcome_offer.components, button('quick_reply', 1, payload(longest))];
    const [tourBody, carousel] = validSends.city_tour.components;
    // The platform orders cards by card_index, not by their place in the list.
    const cards = carousel.cards.toReversed().map(({ card_index, components }) => ({
      card_index,
      components: components.map((part) =>
        'sub_type' in part && part.sub_type === 'quick_reply'
          ? button('quick_reply', 0, payload(`c${card_index}`))
          : part,
      ),
    }));
    const sentAs = async (name: string, code: string, components: readonly unknown[]) => {
      const { body } = await simulator.send(recipient, { template: { name, language: { code }, components } });
      return body.messages[0].id as string;
    };
    const first = await sentAs('welcome_offer', 'es', offer);
    const second = await sentAs('city_tour', 'en_US', [tourBody, { type: 'carousel', cards }]);
    const tap = (id: string, body: object) => simulator.control('POST', at(id, '/tap'), body);
    await tap(first, { button: 0 });
    await tap(first, { button: 1, has_context: false });
    await simulator.control('POST', `recipients/${recipient}/thread`, { phone_number_id: firstNumber, owner: 'other' });
    await tap(second, { card: 1, button: 0 });
    const changes = deliveries().flatMap(({ entry }) => entry.flatMap((one: { changes: object[] }) => one.changes));
    const taps = changes.flatMap(({ field, value }) =>
      (value.messages ?? []).map((message: { type: string; button: object; context?: { id: string } }) => [
        ...[field, message.type, message.button, message.context?.id],
      ]),
    );
    expect(taps).toEqual([
      ['messages', 'button', { text: 'Lo quiero', payload: 'Lo quiero' }, first],
      ['messages', 'button', { text: 'Ahora no', payload: longest }, undefined],
      ['standby', 'button', { text: 'More like this', payload: 'c1' }, second],
    ]);
    expect((await simulator.control('GET', at(first))).body.replies).toMatchObject([
      { text: 'Lo quiero' },
      { text: 'Ahora no' },
    ]);
    const elsewhere = [{ button: 2 }, { card: 0, button: 0 }, { button: -1 }, {}];
    for (const place of elsewhere) expect((await tap(first, place)).body.field, JSON.stringify(place)).toBe('button');
    expect((await tap(second, { card: 0, button: 1 })).body).toMatchObject({ field: 'button' });
    expect((await tap(await sent(), { button: 0 })).status).toBe(400);
  });

  test('a message shows that its recipient stopped marketing: for its number only, until a resume', async () => {
    const stopped = async () => (await simulator.control('GET', at(id))).body.stopped;
    const id = await sent();
    const person = (value: string, number: string) =>
      simulator.control('POST', `recipients/${recipient}/preference`, { phone_number_id: number, value });
    await person('stop', '300000000000002');
    expect(await stopped()).toBe(false);
    await person('stop', firstNumber);
    expect(await stopped()).toBe(true);
    await person('resume', firstNumber);
    expect(await stopped()).toBe(false);
  });

  test('read at once, failed later: on the clock of the simulator', async () => {
    const id = await sent('dispatch-1');
    await simulator.control('POST', at(id, '/status'), { status: 'read' });
    await simulator.control('POST', at(id, '/status'), { status: 'failed', code: 131026, in_seconds: 60 });
    const told = () => receiver.updates().map(({ value }) => `${value.status} ${value.biz_opaque_callback_data}`);
    expect(told()).toEqual(['sent dispatch-1', 'read dispatch-1']);
    await simulator.control('POST', 'clock', { advance_seconds: 61 });
    expect(told()).toContain('failed dispatch-1');
    expect(receiver.updates().at(-1)?.value.errors[0].code).toBe(131026);
    const { body } = await simulator.control('GET', at(id));
    expect(statusAt(body.row, Date.parse('2026-11-20T12:00:30Z'))).toMatchObject({ status: 'read' });
    expect(statusAt(body.row, Date.parse('2026-11-20T12:01:01Z'))).toMatchObject({ status: 'failed', code: 131026 });
  });

  test.each([
    [{ status: 'failed' }, 'code: goes with failed, and only with it'],
    [{ status: 'read', code: 131026 }, 'code: goes with failed, and only with it'],
    [{ status: 'failed', code: 7 }, 'code: is not a code of the platform'],
    [{ status: 'gone' }, 'status: '],
  ])('a status that is none: %j', async (status, message) => {
    const { status: http, body } = await simulator.control('POST', at(await sent(), '/status'), status);
    expect([http, body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test('a person who has blocked the business receives nothing, until they unblock it', async () => {
    await simulator.control('POST', `recipients/${recipient}`, { blocked: true });
    await sent();
    await simulator.control('POST', `recipients/${recipient}`, { blocked: false });
    await sent();
    const { body } = await simulator.control('GET', 'inbox');
    const told = body.data.map((row: { told: { status: string }[] }) => row.told.map(({ status }) => status));
    expect(told).toEqual([['sent', 'delivered', 'read'], ['sent']]);
  });
});
