// The option `prefixUrl` points @great-detail/whatsapp at the simulator.
import Client from '@great-detail/whatsapp';
import * as simulator from './the-simulator.mjs';

const { call, control, number, person, refused, saysWhatItTakes, secret, token, until, waba } = simulator;
const client = new Client({
  prefixUrl: simulator.url,
  graphVersion: 'v26.0',
  request: { headers: { authorization: `Bearer ${token}` } },
});
const told = [];
const callback = await simulator.listen(
  async (headers, body) => {
    const event = await client.webhook.eventNotification({ method: 'POST', query: {}, headers, body });
    await event.verifySignature(secret);
    told.push(...event.eventNotification.entry.flatMap(({ changes }) => changes.map(({ value }) => value)));
  },
  async (query) => (await client.webhook.register({ method: 'GET', query, headers: {}, body: '' })).accept(),
);
await call(
  'subscribe',
  () => simulator.subscribe(callback),
  ({ success }) => success,
);

await call(
  'templates',
  () => client.template.list(waba, { limit: 100 }).json(),
  ({ data }) => data.length > 10,
);
await call(
  'library',
  () => client.template.listLibrary({ search: 'order', limit: 10 }).json(),
  ({ data }) => data.length > 1,
);
const body = {
  type: 'BODY',
  text: 'Dear {{1}}, your order is REVIEW_NOW on its way.',
  example: { body_text: [['Ana']] },
};
const made = await call(
  'create a template',
  () =>
    client.template
      .create(waba, { name: 'by_detail', language: 'en_US', category: 'UTILITY', components: [body] })
      .json(),
  ({ status }) => status === 'APPROVED',
);
await call(
  'read it',
  () => client.template.get(made.id, {}).json(),
  ({ name }) => name === 'by_detail',
);
const template = {
  name: 'by_detail',
  language: { code: 'en_US' },
  components: [{ type: 'body', parameters: [{ type: 'text', text: 'Bo' }] }],
};
const sent = await call(
  'send it',
  () => client.message.createMessage({ phoneNumberID: number, to: person, type: 'template', template }).json(),
  ({ messages }) => messages[0].message_status === 'accepted',
);
const text = { phoneNumberID: number, to: person, type: 'text', text: { body: 'Hello' } };
await call(
  'text',
  () => client.message.createMessage(text).json(),
  ({ messages }) => messages[0].id,
);
const mark = { phoneNumberID: number, status: 'read', message_id: 'wamid.x' };
await call(
  'read mark',
  () => client.message.createStatus(mark).json(),
  ({ success }) => success,
);
await call(
  'numbers',
  () => client.phoneNumbers.listPhoneNumbers({ businessAccountID: waba }).json(),
  ({ data }) => data.length === 2,
);
const profile = { phoneNumberID: number, about: 'Open' };
await call(
  'change the profile',
  () => client.businessProfile.updateBusinessProfile(profile).json(),
  ({ success }) => success,
);
await call(
  'profile',
  () => client.businessProfile.getBusinessProfile({ phoneNumberID: number }).json(),
  ({ data }) => data[0].about === 'Open',
);
await call(
  'delete it',
  () => client.template.delete(waba, { name: 'by_detail' }).json(),
  ({ success }) => success,
);
const sticker = { phoneNumberID: number, to: person, type: 'sticker', sticker: { id: '1' } };
await call('a sticker', () => refused(() => client.message.createMessage(sticker).json()), saysWhatItTakes);

await control('POST', `recipients/${person}/message`, { phone_number_id: number, text: 'Hello?' });
const isRead = ({ statuses = [] }) =>
  statuses.some(({ id, status }) => id === sent.messages[0].id && status === 'read');
await call('is told the statuses', () => until(() => told.some(isRead)), Boolean);
await call(
  'is told what a person writes',
  () => until(() => told.some((one) => one.messages?.[0].text.body === 'Hello?')),
  Boolean,
);
simulator.end();
