// A `fetch` of our own points whatsapp-api-js at the simulator: its addresses begin with https://graph.facebook.com.
import { WhatsAppAPI } from 'whatsapp-api-js';
import {
  BodyComponent,
  BodyParameter,
  FlowComponent,
  Language,
  Template,
  Text,
  URLComponent,
} from 'whatsapp-api-js/messages';
import * as simulator from './the-simulator.mjs';

const { app, call, control, number, person, saysWhatItTakes, secret, token, until, waba } = simulator;
const whatsapp = new WhatsAppAPI({
  token,
  appSecret: secret,
  webhookVerifyToken: 'verify-me',
  v: 'v26.0',
  ponyfill: {
    fetch: (address, init) => fetch(String(address).replace('https://graph.facebook.com', simulator.url), init),
  },
});
const told = [];
whatsapp.on.message = async ({ message, recipient, reply, received }) => {
  await received('text');
  told.push({ what: 'message', text: message.text.body, recipient, answer: await reply(new Text('Thank you'), true) });
};
whatsapp.on.status = ({ status, id, recipient }) => told.push({ what: status, id, recipient });
const callback = await simulator.listen(
  (headers, body) => whatsapp.post(JSON.parse(body), body, headers['x-hub-signature-256']),
  (query) => whatsapp.get(query),
);
await control('POST', `apps/${app}`, { updates_per_post: 1 });
await call(
  'subscribe',
  () => simulator.subscribe(callback),
  ({ success }) => success,
);

const order = new Template(
  'order_update',
  new Language('en_US'),
  new BodyComponent(new BodyParameter('Ana'), new BodyParameter('A-1')),
  new URLComponent('A-1'),
);
const sent = await call(
  'template',
  () => whatsapp.sendMessage(number, { phone: person }, order),
  ({ messages }) => messages[0].id.startsWith('wamid.'),
);
await control('POST', 'templates', {
  waba_id: waba,
  templates: [
    {
      name: 'with_flow',
      language: 'en_US',
      category: 'UTILITY',
      components: [
        { type: 'BODY', text: 'Please fill in.' },
        { type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Open', flow_id: '1' }] },
      ],
    },
  ],
});
const flow = (data) => new Template('with_flow', new Language('en_US'), new FlowComponent('token', data));
await call(
  'flow with data',
  () => whatsapp.sendMessage(number, { phone: '5491150000002' }, flow({ order: 'A-1' })),
  (it) => it.messages,
);
await call(
  'flow without data, which this library writes as null',
  () => whatsapp.sendMessage(number, { phone: '5491150000003' }, flow(null)),
  ({ error }) => error.code === 131009,
);
await call(
  'text',
  () => whatsapp.sendMessage(number, { phone: person }, new Text('Hello', true)),
  (it) => it.messages,
);
await call(
  'read mark',
  () => whatsapp.markAsRead(number, 'wamid.x'),
  ({ success }) => success,
);
await call(
  'codes',
  () => whatsapp.retrieveQR(number),
  (it) => saysWhatItTakes(JSON.stringify(it)),
);

await control('POST', `recipients/${person}/message`, { phone_number_id: number, text: 'Hello?' });
const knows = ({ recipient }) => recipient.phone === person && /^AR\.\d+$/.test(recipient.bsuid);
for (const status of ['sent', 'delivered', 'read']) {
  const isTold = (one) => one.what === status && one.id === sent.messages[0].id && knows(one);
  await call(`is told: ${status}`, () => until(() => told.some(isTold)), Boolean);
}
const answered = (one) => one.what === 'message' && one.text === 'Hello?' && knows(one) && 'messages' in one.answer;
await call('is told what a person writes, and answers', () => until(() => told.some(answered)), Boolean);
simulator.end();
