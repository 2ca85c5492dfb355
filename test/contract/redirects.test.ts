import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { redirectCode } from '../../lib/redirects/code.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { addressOf } from '../support/addresses.ts';
import { api, platform } from '../support/api.ts';
import { endingsOf, outcomesOn, runningTarget } from '../support/running-target.ts';
import { sendTo } from '../support/sends.ts';
import {
  create,
  createdTemplate,
  edit,
  expectRefused,
  lastSent,
  listedTemplate,
  reviewAll,
  templateProbes,
} from '../support/template-probes.ts';

/* A redirect (D19) is followed from the request of a creation to the browser of a recipient. */

const probes = templateProbes();
const stack = runningTarget();
const outcomes = outcomesOn(stack);
const target = 'https://shop.example.com/größe?a=1&b=2#top';
const components = [
  { type: 'BODY', text: 'Your order is ready to be picked up.' },
  {
    type: 'BUTTONS',
    buttons: [
      { type: 'URL', text: 'Where', url: target },
      { type: 'URL', text: 'Order', url: 'https://shop.example.com/orders/{{1}}', example: ['A-1'] },
    ],
  },
];
const request = { components, allow_button_url_change: true };

let recipient = 549_730_000_000;

async function send(name: string, params: object) {
  recipient += 1;
  const to = String(recipient);
  const reply = await sendTo([to], { of: { template: { name, language: 'en_US' }, params } });
  return { to, reply };
}

interface SentComponent {
  readonly type: string;
  readonly index: number;
  readonly parameters: readonly { readonly text: string }[];
}

/** Sends, waits until the platform has taken the message, and returns its components. */
async function received(name: string, params: object): Promise<readonly SentComponent[]> {
  const { to, reply } = await send(name, params);
  expect([reply.status, reply.body]).toEqual([200, { success: true }]);
  expect(await endingsOf(outcomes, reply.headers.get('dispatch-id') ?? '')).toMatchObject([{ to, state: 'sent' }]);
  const { body } = await platform(`GET /_control/messages?to=${to}`);
  return body.data[0].request.template.components;
}

function buttonsOf(sent: readonly SentComponent[]): Map<number, string> {
  const buttons = sent.filter(({ type }) => type === 'button');
  return new Map(buttons.map(({ index, parameters }) => [index, parameters[0]?.text ?? '']));
}

const locationOf = async (code: string | undefined) => (await api(`GET /r/${code}`)).headers.get('location');

describe('a static URL button of a creation with allow_button_url_change', () => {
  const draft = probes.draft(request);
  const { name } = draft;
  const base = `${addressOf('apiUrl')}/r`;
  let id = '';

  test('reaches the platform as a dynamic one, whose example leads to the URL as soon as it is taken', async () => {
    ({ id } = await createdTemplate(draft));
    const { buttons } = (await lastSent()).components[1];
    const code = buttons[0].example[0].slice(`${base}/`.length);
    expect(code).toMatch(/^[a-z2-7]{32}$/);
    expect(buttons).toEqual([
      { type: 'URL', text: 'Where', url: `${base}/{{1}}`, example: [`${base}/${code}`] },
      components[1]?.buttons?.[1],
    ]);
    expect((await api(`GET /r/${code}`)).status).toBe(302);
  });

  test('is listed as the platform has it, and is no difference in an edit', async () => {
    await reviewAll();
    const { platform_template: listed } = await listedTemplate(1001, name);
    expect(listed.status).toBe('APPROVED');
    expect(listed.components[1].buttons[0].url).toBe(`${base}/{{1}}`);
    expect((await edit(id, request)).body).toMatchObject({ success: true, changed: false });
    expect((await edit(id, { components: listed.components })).body).toMatchObject({ success: true, changed: false });
  });

  test('is filled by the service, and leads the recipient to the URL', async () => {
    const buttons = buttonsOf(await received(name, { buttons: ['A-7'] }));
    expect([...buttons.keys()].sort()).toEqual([0, 1]);
    expect(buttons.get(1)).toBe('A-7');
    const reply = await api(`GET /r/${buttons.get(0)}`);
    expect({ status: reply.status, text: reply.text, location: reply.headers.get('location') }).toEqual({
      status: 302,
      text: '',
      location: 'https://shop.example.com/gr%C3%B6%C3%9Fe?a=1&b=2#top',
    });
  });

  test('is not the caller’s to fill', async () => {
    const { reply } = await send(name, { buttons: ['x', 'A-7'] });
    expect(reply).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'recipients[0].params.buttons', message: 'expected 1 value, received 2' }] },
    });
  });

  test('leads elsewhere once edited; messages of before lead where they did', async () => {
    const before = buttonsOf(await received(name, { buttons: ['A-7'] })).get(0);
    const [body, { buttons: [first, second] = [] } = {}] = components;
    const other = 'https://shop.example.com/other';
    const changed = [body, { type: 'BUTTONS', buttons: [{ ...first, url: other }, second] }];
    expect((await edit(id, { ...request, components: changed })).body).toEqual({ success: true, changed: true });
    await reviewAll();
    const after = buttonsOf(await received(name, { buttons: ['A-7'] })).get(0);
    const led = await Promise.all([before, after].map(locationOf));
    expect(led).toEqual(['https://shop.example.com/gr%C3%B6%C3%9Fe?a=1&b=2#top', other]);
  });
});

test('a refused creation leaves no redirect that leads on, and one to a private address is refused at once (D19)', async () => {
  const draft = probes.draft(request);
  const table = { TableName: stack.tableName('redirects') };
  const itemsOf = async () => {
    const key = templateKey({ wabaId: '200000000000001', ...draft });
    const code = redirectCode({ templateKey: key, place: 'buttons[0]', url: new URL(target).href });
    const { Item } = await stack.documentClient.send(new GetCommand({ ...table, Key: { pk: `REDIRECT#${code}` } }));
    return { expires: Item?.['expiresAtSeconds'], status: (await api(`GET /r/${code}`)).status };
  };
  const fault = { match: { method: 'POST', path: 'message_templates' }, action: { code: 100 }, times: 1 };
  await platform('POST /_control/faults', fault);
  expect((await create(draft)).status).toBe(400);
  expect(await itemsOf()).toEqual({ expires: expect.any(Number), status: 404 });
  expect((await create(draft)).status).toBe(200);
  expect(await itemsOf()).toEqual({ expires: undefined, status: 302 });
  const buttons = [{ type: 'URL', text: 'Where', url: 'https://169.254.169.254/' }];
  const wrong = probes.draft({ ...request, components: [components[0], { type: 'BUTTONS', buttons }] });
  const path = 'components[1].buttons[0].url';
  await expectRefused(() => create(wrong), { message: `${path}: the redirect must name a public host`, at: [path] });
});

test.each(['a'.repeat(32), '%0d%0alocation:%20x'])('GET /r/%s is a 404', async (code) => {
  const reply = await api(`GET /r/${code}`);
  expect(reply).toMatchObject({ status: 404, body: { code: 'redirect_not_found' } });
  expect(reply.headers.get('location')).toBeNull();
});
