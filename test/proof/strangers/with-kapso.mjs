// The option `baseUrl` points @kapso/whatsapp-cloud-api at the simulator.
import { WhatsAppClient } from '@kapso/whatsapp-cloud-api';
import { normalizeWebhook, verifySignature } from '@kapso/whatsapp-cloud-api/server';
import * as simulator from './the-simulator.mjs';

const { call, control, number, person, refused, saysWhatItTakes, secret, token, until, waba } = simulator;
const client = new WhatsAppClient({ accessToken: token, baseUrl: simulator.url, graphVersion: 'v26.0' });
const told = [];
const callback = await simulator.listen(
  (headers, rawBody) => {
    const signatureHeader = headers['x-hub-signature-256'];
    if (verifySignature({ appSecret: secret, rawBody, signatureHeader }))
      told.push(normalizeWebhook(JSON.parse(rawBody)));
  },
  (query) => query['hub.challenge'],
);
await call(
  'subscribe',
  () => simulator.subscribe(callback),
  ({ success }) => success,
);

await call(
  'templates',
  () => client.templates.list({ businessAccountId: waba, limit: 100 }),
  ({ data }) => data.length > 10,
);
await call(
  'create a template',
  () =>
    client.templates.create({
      businessAccountId: waba,
      name: 'by_kapso',
      language: 'en_US',
      category: 'UTILITY',
      components: [
        {
          type: 'BODY',
          text: 'Dear {{1}}, your order is REVIEW_NOW on its way.',
          example: { bodyText: [['Ana']] },
        },
      ],
    }),
  ({ status }) => status === 'APPROVED',
);
const template = {
  name: 'by_kapso',
  language: { code: 'en_US' },
  components: [{ type: 'body', parameters: [{ type: 'text', text: 'Bo' }] }],
};
const sent = await call(
  'send it',
  () => client.messages.sendTemplate({ phoneNumberId: number, to: person, template }),
  ({ messages }) => messages[0].id.startsWith('wamid.'),
);
await call(
  'text',
  () => client.messages.sendText({ phoneNumberId: number, to: person, body: 'Hello' }),
  (it) => it.messages,
);
await call(
  'read mark',
  () => client.messages.markRead({ phoneNumberId: number, messageId: 'wamid.x' }),
  (it) => it.success,
);
const profile = { phoneNumberId: number, about: 'Open' };
await call(
  'change the profile',
  () => client.phoneNumbers.businessProfile.update(profile),
  ({ success }) => success,
);
await call(
  'profile',
  () => client.phoneNumbers.businessProfile.get({ phoneNumberId: number }),
  ({ data }) => data[0].about === 'Open',
);
await call(
  'delete it',
  () => client.templates.delete({ businessAccountId: waba, name: 'by_kapso' }),
  ({ success }) => success,
);
const picture = { phoneNumberId: number, to: person, image: { link: 'https://shop.example/a.png' } };
await call('a picture', () => refused(() => client.messages.sendImage(picture)), saysWhatItTakes);

await control('POST', `recipients/${person}/message`, { phone_number_id: number, text: 'Hello?' });
const isRead = ({ statuses }) => statuses.some(({ id, status }) => id === sent.messages[0].id && status === 'read');
await call('is told the statuses', () => until(() => told.some(isRead)), Boolean);
const isWritten = ({ messages, contacts }) => messages[0]?.text?.body === 'Hello?' && /^AR\./.test(contacts[0].userId);
await call('is told what a person writes', () => until(() => told.some(isWritten)), Boolean);
simulator.end();
