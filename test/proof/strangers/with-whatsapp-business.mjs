// The base URL of its axios client points whatsapp-business at the simulator; the types call that client private.
import whatsappBusiness from 'whatsapp-business';
import { webhookHandler } from 'whatsapp-business/dist/src/webhooks/helpers.js';
import * as simulator from './the-simulator.mjs';

const { call, control, number, person, refused, saysWhatItTakes, token, until, waba } = simulator;
const client = new whatsappBusiness.WABAClient({ apiToken: token, phoneId: number, accountId: waba });
client.restClient.fetch.defaults.baseURL = `${simulator.url}/v17.0`;
const told = [];
const callback = await simulator.listen(
  (_, body) =>
    webhookHandler(JSON.parse(body), {
      onStatusReceived: ({ id, status }) => told.push(`${status} ${id}`),
      onTextMessageReceived: ({ text }, contact) => told.push(`${contact.wa_id} ${text.body}`),
    }),
  (query) => query['hub.challenge'],
);
await call(
  'subscribe',
  () => simulator.subscribe(callback),
  ({ success }) => success,
);

const template = {
  name: 'order_update',
  language: { code: 'en_US' },
  components: [
    { type: 'body', parameters: ['Ana', 'A-1'].map((text) => ({ type: 'text', text })) },
    { type: 'button', sub_type: 'url', index: 0, parameters: [{ type: 'text', text: 'A-1' }] },
  ],
};
const sent = await call(
  'template',
  () => client.sendMessage({ to: person, type: 'template', template }),
  ({ messages }) => messages[0].id.startsWith('wamid.'),
);
await call(
  'text',
  () => client.sendMessage({ to: person, type: 'text', text: { body: 'Hello' } }),
  (it) => it.messages,
);
await call(
  'read mark',
  () => client.markMessageAsRead('wamid.x'),
  ({ success }) => success,
);
await call(
  'change the profile',
  () => client.updateBusinessProfile({ about: 'Open' }),
  ({ success }) => success,
);
await call(
  'profile',
  () => client.getBusinessProfile(),
  ({ data }) => data[0].about === 'Open',
);
await call(
  'numbers',
  () => client.getBusinessPhoneNumbers(),
  ({ data }) => data.length === 2,
);
await call(
  'number',
  () => client.getSingleBusinessPhoneNumber(number),
  ({ id }) => id === number,
);
await call(
  'identity check',
  () => refused(() => client.updateIdentityCheckState({ enable_identity_key_check: true })),
  saysWhatItTakes,
);

await control('POST', `recipients/${person}/message`, { phone_number_id: number, text: 'Hello?' });
await call('is told the statuses', () => until(() => told.includes(`read ${sent.messages[0].id}`)), Boolean);
await call('is told what a person writes', () => until(() => told.includes(`${person} Hello?`)), Boolean);
simulator.end();
