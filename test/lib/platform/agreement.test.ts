import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holdKinds, tierNames, tiers } from '#simulator/contract';
import theirCodes from '#simulator/data/error-codes.json' with { type: 'json' };
import theirLanguages from '#simulator/data/languages.json' with { type: 'json' };
import { type CallbackReceiver, callbackReceiver } from '#simulator/test/callback-receiver';
import { button, firstNumber, firstWaba, recipient, simulatorAtRest, simulatorOfFile } from '#simulator/test/simulator';
import { validSends } from '#simulator/test/valid-sends';
import { platformMediaHost } from '../../../infra/local/function-environment.ts';
import { peopleADay } from '../../../lib/channels/messaging-limit.ts';
import { scopeOfRefusal } from '../../../lib/messages/holds/scope.ts';
import { stopWordMatcher, stopWords } from '../../../lib/opt-outs/stop-words.ts';
import errorCodes from '../../../lib/platform/error-codes.json' with { type: 'json' };
import { updatesIn } from '../../../lib/platform/webhook/envelope.ts';
import { personUpdatesOf } from '../../../lib/platform/webhook/person-updates.ts';
import languages from '../../../lib/templates/model/languages.json' with { type: 'json' };
import { checkMedia } from '../../../lib/templates/rules/media.ts';

/**
 * The service and the simulator have the platform's lists, and implement its account changes and person updates,
 * independently; both must agree.
 */

test('every code, with its title, status and kind; every language', () => {
  const fact = ({ code, title, status, kind, ...row }: (typeof errorCodes)[number]) => ({
    ...{ code, title, status, kind },
    ...('subcode' in row ? { subcode: row.subcode } : {}),
  });
  expect(errorCodes.map(fact)).toEqual(theirCodes);
  expect(Object.keys(languages)).toEqual(Object.keys(theirLanguages));
});

test('the example of a template, of each kind, is a file that a header takes, under the host that leads to it', async () => {
  const simulator = await simulatorAtRest();
  for (const [name, format] of [
    ['welcome_offer', 'IMAGE'],
    ['tent_video', 'VIDEO'],
    ['invoice_file', 'DOCUMENT'],
  ] as const) {
    const { body } = await simulator.get(`${firstWaba}/message_templates`, { name });
    const address = new URL(body.data[0].components[0].example.header_handle[0]);
    expect(address.host).toBe(platformMediaHost);
    const reply = await fetch(`${simulator.url}${address.pathname}`);
    const contentType = reply.headers.get('content-type') ?? '';
    const bytes = Buffer.from(await reply.arrayBuffer());
    expect(checkMedia(format, { bytes, contentType })).toEqual({ type: contentType });
  }
  await simulator.stop();
});

test.each(tierNames)('a portfolio of %s writes to as many people a day', (tier) => {
  expect(peopleADay(tier) ?? Number.POSITIVE_INFINITY).toBe(tiers[tier]);
});

const refusing = holdKinds.flatMap(({ code, of, category }) =>
  typeof code === 'number' ? [[code, of, category] as const] : [],
);

test.each(refusing)('%i holds a %s, of category %s (D46)', (code, of, category) => {
  for (const each of ['MARKETING', 'UTILITY', 'AUTHENTICATION']) {
    const scope = scopeOfRefusal(code, {
      ...{ category: each, phoneNumberId: '1', path: 'messages', templateName: 'a', templateLanguage: 'en' },
    });
    const narrow = of === 'waba' ? each.toLowerCase() : `${each.toLowerCase()}:1`;
    const wide = of === 'waba' ? of : 'number:1';
    const held = category === undefined ? wide : narrow;
    expect([each, scope]).toEqual([each, category === undefined || category === each ? held : undefined]);
  }
});

describe('what people do is read as it was done (D55)', () => {
  const simulator = simulatorOfFile({ afresh: true });
  let receiver: CallbackReceiver;
  beforeAll(async () => {
    receiver = await callbackReceiver();
  });
  afterAll(() => receiver.stop());
  const userId = 'AR.13607919076743524463';
  const person = (call: string, body: object) =>
    simulator.control('POST', `recipients/${recipient}/${call}`, { phone_number_id: firstNumber, ...body });
  const read = () =>
    personUpdatesOf(receiver.calls.flatMap(({ bytes }) => updatesIn(bytes, new Set([firstWaba])).updates));
  const listening = async () => {
    receiver.forget();
    await simulator.control('POST', 'apps/500000000000001', {
      ...{ callback_url: receiver.url, subscribed_waba_ids: [firstWaba] },
    });
  };
  const said = {
    ...{ wabaId: firstWaba, phoneNumberId: firstNumber, person: { waId: recipient, userId } },
    atMs: Date.parse('2026-11-20T12:00:00Z'),
  };

  test('a stop, a resume and a signup, by the time at which they were said', async () => {
    await listening();
    await person('preference', { value: 'stop', told_in_seconds: 5 });
    await person('preference', { value: 'resume' });
    await person('preference', { value: 'signup' });
    await simulator.control('POST', 'clock', { advance_seconds: 5 });
    expect(read()).toEqual({
      words: ['resume', 'signup', 'stop'].map((says) => ({ ...said, kind: 'preference', says })),
      others: new Map(),
      unreadable: 0,
    });
  });

  test('texts and taps, with the message that they answer or without, in the own thread or in that of another', async () => {
    await listening();
    const payload = { type: 'payload', payload: '01KAPQ5Z3M9T7V1XW2YB4C6D8E-7' };
    const components = [...validSends.welcome_offer.components, button('quick_reply', 1, payload)];
    const template = { name: 'welcome_offer', language: { code: 'es' }, components };
    const { body } = await simulator.send(recipient, { template });
    const { id } = body.messages[0];
    const does = (call: string, what: object) =>
      simulator.control('POST', `messages/${encodeURIComponent(id)}/${call}`, what);
    await does('reply', { text: 'Stop.' });
    await does('tap', { button: 0 });
    await does('tap', { button: 1 });
    const label = 'Detener promociones';
    await does('reply', { text: label, payload: label });
    await does('reply', { text: label, has_context: false });
    await person('message', { text: 'please stop the clock' });
    await person('thread', { owner: 'other' });
    await person('message', { text: 'BAJA' });
    const { words, unreadable } = read();
    const judge = stopWordMatcher(stopWords);
    expect(unreadable).toBe(0);
    expect(
      words.map((word) => ['reply' in word && word.reply, ...['reply' in word && judge(word.reply), word.standby]]),
    ).toEqual([
      [{ by: 'text', text: 'Stop.', toMessageId: id }, 'stop', undefined],
      [{ by: 'quick_reply', text: 'Lo quiero', payload: 'Lo quiero', toMessageId: id }, undefined, undefined],
      [{ by: 'quick_reply', text: 'Ahora no', payload: payload.payload, toMessageId: id }, undefined, undefined],
      [{ by: 'quick_reply', text: label, payload: label, toMessageId: id }, 'stop', undefined],
      [{ by: 'text', text: label }, undefined, undefined],
      [{ by: 'text', text: 'please stop the clock' }, undefined, undefined],
      [{ by: 'text', text: 'BAJA' }, 'stop', true],
    ]);
    expect(words.map(({ person: { waId, userId: ofPerson }, atMs }) => [waId, ofPerson, atMs])).toEqual(
      words.map(() => [recipient, userId, said.atMs]),
    );
    expect(new Set(words.map(({ messageId }) => messageId)).size).toBe(7);
  });

  test.each(['2026-08', '2026-06'])('a new user id, with the old one, in the form of %s', async (form) => {
    await listening();
    const { body } = await person('identity', { form });
    expect(read().words).toMatchObject([
      { kind: 'user_id_changed', person: { userId: body.user_id }, old: { userId: body.old_user_id } },
    ]);
  });
});
