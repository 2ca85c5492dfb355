import { describe, expect, test } from 'vitest';
import { actingPeople, userId } from './support/acting-people.ts';
import { hearing } from './support/heard.ts';
import { expectMessagingError } from './support/refusals.ts';
import { firstNumber, firstWaba, recipient, simulatorOfFile, thirdNumber } from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });
const heard = hearing(simulator);
const { person, sent, says, overview } = actingPeople(simulator);
const metadata = { display_phone_number: '5491100000001', phone_number_id: firstNumber };

describe('user ids', () => {
  const identity = (body: object = {}) => person('/identity', body);

  test('an id of another portfolio reaches no person', async () => {
    const told = (
      await simulator.control('POST', `recipients/${recipient}/message`, {
        phone_number_id: thirdNumber,
        text: 'Hi',
      })
    ).body.user_id;
    expect(told).not.toBe(userId);
    expect((await sent('order_update', { recipient: told })).status).toBe(200);
    await heard.wait(4);
    expect(await heard.failures()).toEqual([131026]);
  });

  test('a new id comes in a system message: the old id reaches no person, the number still does', async () => {
    await says();
    heard.forget();
    const { body } = await identity();
    expect(body).toEqual({ to: recipient, user_id: expect.stringMatching(/^AR\.\d{20}$/), old_user_id: userId });
    expect(await heard.changes()).toEqual([
      {
        wabaId: firstWaba,
        field: 'messages',
        value: {
          messaging_product: 'whatsapp',
          metadata,
          messages: [
            {
              from: recipient,
              id: expect.stringMatching(/^wamid\./),
              timestamp: '1795176000',
              type: 'system',
              system: {
                body: `User changed from ${userId} to ${body.user_id}`,
                wa_id: recipient,
                ...{ user_id: body.user_id, previous_user_id: userId },
                type: 'user_changed_user_id',
              },
            },
          ],
        },
      },
    ]);
    expect((await sent('order_update', { recipient: userId })).status).toBe(200);
    await heard.wait(1);
    const [failed] = await heard.statuses();
    expect([failed.status, failed.recipient_user_id, failed.errors[0].code]).toEqual(['failed', userId, 131026]);
    await sent('order_update', { recipient: body.user_id });
    await sent('order_update', { to: recipient });
    await heard.wait(4);
    const later = (await heard.statuses()).slice(1).map((status) => status.recipient_user_id);
    expect(new Set(later)).toEqual(new Set([body.user_id]));
    expect(await heard.failures()).toEqual([131026]);
  });

  test('with another number: no person has the old number, and a stop ends with the id', async () => {
    await person('/preference', { value: 'stop' });
    const number = '5491150000077';
    const { body } = await identity({ number, old_id: 'refused' });
    const [
      {
        messages: [message],
      },
    ] = await heard.values('messages');
    expect([message.from, message.system.wa_id, message.system.user_id]).toEqual([recipient, number, body.user_id]);
    expectMessagingError(await sent('order_update', { recipient: userId }), 400, 131026, undefined);
    await sent('order_update', { to: recipient });
    await heard.wait(4);
    expect(await heard.failures()).toEqual([131026]);
    heard.forget();
    await sent('welcome_offer', { to: number });
    await heard.wait(4);
    expect([await heard.failures(), (await heard.statuses()).length]).toEqual([[], 3]);
  });

  test('with the same number: a stop ends with the id, and is not in the list any more', async () => {
    await person('/preference', { value: 'stop' });
    await identity();
    expect((await overview()).stopped).toEqual([]);
    heard.forget();
    await sent('welcome_offer', { to: recipient });
    await heard.wait(4);
    expect(await heard.failures()).toEqual([]);
  });

  test('of an adopter: the new number is not told; the old shape, where a number changes', async () => {
    await simulator.control('POST', `recipients/${recipient}`, { username: 'ana.ruiz' });
    await identity({ number: '5491150000077' });
    const [
      {
        messages: [hidden],
      },
    ] = await heard.values('messages');
    expect([hidden.from, hidden.system.wa_id]).toEqual([undefined, undefined]);
    const changed = { number: '5491150000079', told_as: 'user_changed_number', form: '2026-06' };
    await person('/identity', changed, '5491150000078');
    const { system } = (await heard.values('messages'))[1].messages[0];
    expect(system).toEqual({
      body: 'User changed from 5491150000078 to 5491150000079',
      wa_id: '5491150000079',
      type: 'user_changed_number',
    });
  });

  test('of a group: parent ids beside them, the same for each portfolio, and sent to', async () => {
    for (const id of ['400000000000001', '400000000000002']) {
      await simulator.control('POST', `businesses/${id}`, { parent_user_ids: true });
    }
    await says();
    await simulator.control('POST', `recipients/${recipient}/message`, { phone_number_id: thirdNumber, text: 'Hi' });
    const [first, second] = await heard.values('messages');
    const parent = first.contacts[0].parent_user_id;
    expect(parent).toMatch(/^AR\.ENT\.\d{20}$/);
    expect([first.messages[0].from_parent_user_id, second.contacts[0].parent_user_id]).toEqual([parent, parent]);
    heard.forget();
    await sent('order_update', { recipient: parent });
    await heard.wait(4);
    await sent('order_update', { to: '15550131026' });
    await heard.wait(4);
    const told = await heard.statuses();
    expect(told.map((status) => [status.status, status.recipient_parent_user_id])).toEqual([
      ['sent', parent],
      ['delivered', parent],
      ['read', parent],
      ['failed', undefined],
    ]);
    expect(told[0].recipient_user_id).toBe(userId);
  });
});
