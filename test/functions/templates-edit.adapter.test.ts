import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { templatesEdit } from '../../functions/templates-edit.ts';
import type { MediaPorts } from '../../lib/templates/authoring/header-media.ts';
import { documentId, templateKey } from '../../lib/templates/model/template-key.ts';
import type { TemplateStore } from '../../lib/templates/model/template-store.ts';
import { templateStore } from '../../lib/templates/model/template-store.ts';
import { type CallOptions, call } from '../support/calls.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../support/directory.ts';
import { failures, type RecordedPlatform, recordedPlatform } from '../support/management.ts';
import { MemoryAudit } from '../support/memory-audit.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { meterRequests } from '../support/request-meter.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { makeTemplate } from '../support/templates.ts';

const supervisor = { userId: 'u-1', clientId: 1001 };
const waba = makeWaba();
const directory = memoryDirectory({ wabas: [waba], channels: [makeChannel()] });
const nowMs = 1_800_000_000_000;
const client = localDocumentClient();
const changedBody = { type: 'BODY', text: 'Order {{1}} is on its way.', example: { body_text: [['7']] } };

let table: string;
let platform: RecordedPlatform;
beforeAll(async () => {
  table = await freshTable('templates');
});
beforeEach(() => {
  platform = recordedPlatform();
  media.length = 0;
});

let count = 0;
async function stored(overrides: Parameters<typeof makeTemplate>[0] = {}) {
  count += 1;
  const template = makeTemplate({ name: `template_${count}`, id: `9${count}`, ...overrides });
  const { wabaId, clientIds } = waba;
  await templateStore(client, table).refresh({ wabaId, clientIds }, template, nowMs - 1_000);
  platform.found = template;
  const key = templateKey({ wabaId, ...template });
  return { template, key, id: documentId({ templateKey: key, clientId: 1001, sequence: 0 }) };
}

const stateOf = (key: string) => templateStore(client, table).stateOf(key, [1001, 1002]);

interface EditOptions extends Partial<CallOptions> {
  readonly templates?: Pick<TemplateStore, 'stateOf' | 'refresh' | 'writeUpstream' | 'forgetSentCode'>;
  readonly events?: MemoryEvents;
}

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const media: string[] = [];
const mediaPorts: MediaPorts = {
  fetchPublic: async (url) => {
    media.push(`fetch ${url}`);
    return { bytes: url.endsWith('.txt') ? Buffer.from('text') : png };
  },
  uploadMedia: async (credential, { type, name }) => {
    media.push(`upload ${type} ${name} with ${credential}`);
    return `4::${name}`;
  },
};

let audit = new MemoryAudit();

function edit(id: string, body: unknown, given: EditOptions = {}) {
  const { templates = templateStore(client, table), events = new MemoryEvents(), ...options } = given;
  audit = new MemoryAudit();
  const { management, platformTemplates } = platform;
  const upstream = { management, platformTemplates };
  const deps = { ...mediaPorts, ...upstream, directory, templates, events, audit, nowMs: () => nowMs };
  const path = { did: '5491100000001', messageTemplateId: id };
  return call(templatesEdit(deps), supervisor, { path, body: JSON.stringify(body), ...options });
}

test('nothing differs: no call, nothing written', async () => {
  const { template, key, id } = await stored();
  const { status, body } = await edit(id, { components: template.components, category: 'utility' });
  expect({ status, body }).toEqual({
    status: 200,
    body: { success: true, changed: false, message: 'nothing differs from the template as it is' },
  });
  expect(platform.calls).toEqual([]);
  expect(audit.noted).toEqual([]);
  expect((await stateOf(key)).fact).toMatchObject({ template, readAtMs: nowMs - 1_000 });
});

test('taken upstream and not stored: the answer says so all the same', async () => {
  const { id } = await stored();
  const templates = {
    ...templateStore(client, table),
    writeUpstream: async () => {
      throw new Error('the table is away');
    },
  };
  expect(await edit(id, { components: [changedBody] }, { templates })).toMatchObject({
    status: 200,
    body: { changed: true },
  });
  const on = { wabaId: waba.wabaId, documentIds: [id] };
  expect(audit.noted).toMatchObject([{ clientId: 1001, act: 'template.edited', on, outcome: 'done' }]);
});

test('deleted while the platform took the edit: it stays deleted', async () => {
  const { template, key, id } = await stored();
  const real = templateStore(client, table);
  const templates: typeof real = {
    ...real,
    writeUpstream: async (writes, options) => {
      await real.writeUpstream([{ kind: 'gone', templateKey: key, clientIds: waba.clientIds, readAtMs: nowMs }]);
      return real.writeUpstream(writes, options);
    },
  };
  expect(await edit(id, { components: [changedBody] }, { templates })).toMatchObject({ status: 200 });
  const { fact, rows } = await stateOf(key);
  expect(fact).toMatchObject({ deleted: true, template });
  expect(rows.map(({ deleted }) => deleted)).toEqual([true, true]);
});

test('two DynamoDB requests', async () => {
  const { id } = await stored();
  const counting = localDocumentClient();
  const meter = meterRequests(counting);
  await edit(id, { components: [changedBody] }, { templates: templateStore(counting, table) });
  expect(meter.taken().requests).toBe(2);
});

test('keys that only the platform writes are left out; those that nobody knows are faults (D6, D20)', async () => {
  const url = { type: 'URL', text: 'Open', url: 'https://a.example.com/x' };
  const shown = [changedBody, { type: 'BUTTONS', buttons: [{ ...url, click_tracking: true }] }];
  const { template, id } = await stored({ components: shown });
  const other = { ...url, url: 'https://a.example.com/y' };
  const sentBack = [changedBody, { type: 'BUTTONS', buttons: [{ ...other, click_tracking: true }] }];
  expect(await edit(id, { components: sentBack })).toMatchObject({ status: 200, body: { changed: true } });
  expect(platform.calls).toEqual([
    ['edit', template.id, { components: [changedBody, { type: 'BUTTONS', buttons: [other] }] }],
  ]);
  const typo = [
    { ...changedBody, foo: 1 },
    { type: 'BUTTONS', buttons: [{ ...other, exmaple: ['x'] }] },
  ];
  expect(await edit(id, { components: typo })).toMatchObject({
    status: 400,
    body: { errors: [{ path: 'components[1].buttons[0].exmaple' }, { path: 'components[0].foo' }] },
  });
});

describe('what is true now, and not what was stored (D20)', () => {
  test.each([undefined, 'PENDING_DELETION', 'DELETED'])('the platform has it no more (%s): 404', async (status) => {
    const { template, id } = await stored();
    platform.found = status === undefined ? undefined : { ...template, status };
    expect(await edit(id, { components: [changedBody] })).toMatchObject({
      status: 404,
      body: { code: 'template_not_found' },
    });
    expect(platform.calls).toEqual([]);
  });

  test('made anew under its name elsewhere: the new one is edited, and stored as it is', async () => {
    const { template, key, id } = await stored();
    platform.found = { ...template, id: '4711' };
    expect(await edit(id, { components: [changedBody] })).toMatchObject({ body: { changed: true } });
    expect(platform.calls).toEqual([['edit', '4711', { components: [changedBody] }]]);
    expect((await stateOf(key)).fact?.template).toMatchObject({ id: '4711', components: [changedBody] });
  });

  test('an approval that nobody has read yet is told and stored before the edit is', async () => {
    const { template, key, id } = await stored({ status: 'PENDING' });
    platform.found = { ...template, status: 'APPROVED' };
    const events = new MemoryEvents();
    const reply = await edit(id, { components: template.components }, { events });
    expect(reply).toMatchObject({ body: { changed: false } });
    expect((await stateOf(key)).rows.map(({ status }) => status)).toEqual(['APPROVED', 'APPROVED']);
    const told = events.sent.map(({ type, clientId }) => `${type} ${clientId}`);
    expect(told.sort()).toEqual(['template.status_changed 1001', 'template.status_changed 1002']);
  });

  test('deleted and made anew while the platform took the edit: the old text does not come back', async () => {
    const { template, key, id } = await stored();
    const real = templateStore(client, table);
    const { wabaId, clientIds } = waba;
    const anew = { ...template, id: '4712', components: [{ type: 'BODY', text: 'Anew.' }] };
    const templates: typeof real = {
      ...real,
      writeUpstream: async (writes, options) => {
        await real.writeUpstream([{ kind: 'present', wabaId, clientIds, template: anew, readAtMs: nowMs }]);
        return real.writeUpstream(writes, options);
      },
    };
    expect(await edit(id, { components: [changedBody] }, { templates })).toMatchObject({ status: 200 });
    expect((await stateOf(key)).fact?.template).toEqual(anew);
  });
});

describe('what could not be stored or compared is refused before the platform hears of it (D18)', () => {
  const flow = (json: string) => ({ type: 'BUTTONS', buttons: [{ type: 'FLOW', text: 'Start', flow_json: json }] });

  test('600 KB that cannot be compressed', async () => {
    const { id } = await stored({ category: 'MARKETING' });
    const components = [changedBody, flow(randomBytes(450_000).toString('base64'))];
    expect(await edit(id, { components })).toMatchObject({
      status: 400,
      body: {
        message: expect.stringMatching(
          /^components: a template takes at most 300000 bytes when compressed, received \d+$/,
        ),
      },
    });
    expect(platform.calls).toEqual([]);
  });
});

describe('one-time codes (D20)', () => {
  const buttonsOf = (more: object) => ({
    type: 'BUTTONS',
    buttons: [{ type: 'OTP', otp_type: 'ONE_TAP', supported_apps: [app], ...more }],
  });
  const app = { package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' };
  const given = (more: object = {}, minutes?: number) => [
    { type: 'BODY', add_security_recommendation: true },
    ...(minutes === undefined ? [] : [{ type: 'FOOTER', code_expiration_minutes: minutes }]),
    buttonsOf(more),
  ];
  const url = 'https://www.example.com/otp/code/?otp_type=ONE_TAP&code=otp{{1}}';
  const shownAs = (text: string, minutes?: number) => [
    { type: 'BODY', text: '*{{1}}* is your code.', add_security_recommendation: true },
    ...(minutes === undefined
      ? []
      : [{ type: 'FOOTER', text: `This code expires in ${minutes} minutes.`, code_expiration_minutes: minutes }]),
    { type: 'BUTTONS', buttons: [{ type: 'URL', text, url, example: [url.replace('{{1}}', '123')] }] },
  ];

  /** Stores a template as the platform shows it after an edit from here with these components. */
  async function edited(sent: readonly object[], shown: readonly object[]) {
    const what = await stored({ category: 'AUTHENTICATION', components: shown as never, status: 'REJECTED' });
    expect(await edit(what.id, { components: sent })).toMatchObject({ body: { changed: true } });
    const { wabaId, clientIds } = waba;
    await templateStore(client, table).refresh({ wabaId, clientIds }, what.template, nowMs + 1);
    platform.calls.length = 0;
    return what;
  }

  test('what is not shown and was not sent from here counts as a change; afterwards it is known, synchronized or not', async () => {
    const { id } = await edited(given(), shownAs('Copy code'));
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: false } });
    expect(platform.calls).toEqual([]);
  });

  test.each<[string, object]>([
    ['one app more', { supported_apps: [app, { ...app, package_name: 'com.example.other' }] }],
    ['autofill_text', { autofill_text: 'Fill in' }],
    ['a label of its own', { text: 'Copy it' }],
  ])('another %s is a change', async (_, more) => {
    const { template, id } = await edited(given(), shownAs('Copy code'));
    expect(await edit(id, { components: given(more) })).toMatchObject({ body: { changed: true } });
    expect(platform.calls).toMatchObject([['edit', template.id, { components: [{}, buttonsOf(more)] }]]);
  });

  test.each<[string, object]>([
    ['the autofill text', { autofill_text: 'Fill in' }],
    ['the label', { text: 'Copy it' }],
  ])('leaving out %s is a change', async (_, more) => {
    const { id } = await edited(given(more), shownAs('Copy it'));
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: true } });
  });

  test('a template made anew elsewhere has nothing of what was sent for the one before', async () => {
    const { template, id } = await edited(given(), shownAs('Copy code'));
    platform.found = { ...template, id: '4713' };
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: true } });
  });

  test('an answer that was lost: nobody knows what the platform has, so the same again is a change', async () => {
    const { id } = await edited(given(), shownAs('Copy code'));
    platform.failure = failures.brokenOff;
    const other = given({ autofill_text: 'Fill in' });
    expect(await edit(id, { components: other })).toMatchObject({ status: 502 });
    platform.failure = undefined;
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: true } });
  });

  test('a refusal leaves what is known', async () => {
    const { id } = await edited(given(), shownAs('Copy code'));
    platform.failure = failures.content;
    expect(await edit(id, { components: given({ autofill_text: 'Fill in' }) })).toMatchObject({ status: 400 });
    expect(await edit(id, { components: given() })).toMatchObject({ body: { changed: false } });
  });

  test('code_expiration_minutes and add_security_recommendation beside the components', async () => {
    const { template, id } = await edited(given({}, 10), shownAs('Copy code', 10));
    const [, , button] = given({}, 10);
    const bare = [{ type: 'BODY' }, button];
    const same = { code_expiration_minutes: 9.5, add_security_recommendation: true };
    expect(await edit(id, { components: bare, ...same })).toMatchObject({ body: { changed: false } });
    expect(await edit(id, { components: template.components, ...same })).toMatchObject({ body: { changed: false } });
    const other = { code_expiration_minutes: 5, add_security_recommendation: false };
    expect(await edit(id, { components: bare, ...other })).toMatchObject({ body: { changed: true } });
    const components = [
      { type: 'BODY', add_security_recommendation: false },
      { type: 'FOOTER', code_expiration_minutes: 5 },
      button,
    ];
    expect(platform.calls).toEqual([['edit', template.id, { components }]]);
    expect(await edit(id, { components: bare, code_expiration_minutes: 16 })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'code_expiration_minutes', message: 'a number from 0.5 to 15, received 16' }] },
    });
  });
});

describe('a template sent back as it was read (D20)', () => {
  const code = (url: string) => ({
    type: 'BUTTONS',
    buttons: [{ type: 'URL', text: 'Copy', url, example: [url.replace('{{1}}', '123')] }],
  });
  const url = 'https://www.example.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}';
  const advised = { type: 'BODY', text: '*{{1}}* is your code. For your security, do not share it.' };
  const asRead = [
    { ...advised, add_security_recommendation: true, example: { body_text: [['123456']] } },
    { type: 'FOOTER', text: 'This code expires in 5 minutes.', code_expiration_minutes: 5 },
    code(url),
  ];
  const authentication = () => stored({ category: 'AUTHENTICATION', components: asRead });

  test('an AUTHENTICATION one, which no client may write so: nothing differs', async () => {
    const { id } = await authentication();
    expect(await edit(id, { components: asRead })).toMatchObject({ status: 200, body: { changed: false } });
    expect(platform.calls).toEqual([]);
  });

  test('the same with other minutes: the platform gets what a client may write', async () => {
    const { template, id } = await authentication();
    const components = [asRead[0], { ...asRead[1], code_expiration_minutes: 7 }, asRead[2]];
    expect(await edit(id, { components })).toMatchObject({ status: 200, body: { changed: true } });
    const sent = [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 7 },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy' }] },
    ];
    expect(platform.calls).toEqual([['edit', template.id, { components: sent }]]);
  });

  test('the same without the minutes: no footer is added', async () => {
    const { template, id } = await authentication();
    expect(await edit(id, { components: [asRead[0], asRead[2]] })).toMatchObject({ body: { changed: true } });
    const [, , { components }] = platform.calls[0] as [string, string, { components: { type: string }[] }];
    expect(components.map(({ type }) => type)).toEqual(['BODY', 'BUTTONS']);
    expect(template.components).toHaveLength(3);
  });
});

describe('new media (D20)', () => {
  const text = { type: 'BODY', text: 'The same.' };
  const url = 'https://scontent.example.com/old.png';
  const image = (more: object) => ({ type: 'HEADER', format: 'IMAGE', ...more });
  const written = (handle: string) => image({ example: { header_handle: [handle] } });
  const card = (header: { readonly type: string }) => ({
    components: [header, { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Yes' }] }],
  });
  const withImage = () => stored({ components: [written(`${url}?sig=1`), text] });

  test.each([
    [
      'header_source',
      'https://a.example.com/new.png',
      '4::new.png',
      ['fetch https://a.example.com/new.png', 'upload image/png new.png with demo'],
    ],
    ['header_handle', '4::mine', '4::mine', []],
  ])('by %s', async (key, given, handle, expected) => {
    const { template, key: templateKey, id } = await withImage();
    expect(await edit(id, { components: [image({ [key]: given }), text] })).toMatchObject({ body: { changed: true } });
    const components = [written(handle), text];
    expect({ media, calls: platform.calls }).toEqual({
      media: expected,
      calls: [['edit', template.id, { components }]],
    });
    expect((await stateOf(templateKey)).fact?.template).toMatchObject({ components, status: 'PENDING' });
  });

  test.each([
    ['example.header_handle', { example: { header_handle: [`${url}?sig=2`] } }],
    ['header_handle', { header_handle: `${url}?sig=2` }],
  ])('the stored media in %s beside another text: uploaded anew, for a URL is no handle', async (_, more) => {
    const { template, id } = await withImage();
    const other = { type: 'BODY', text: 'Not the same.' };
    expect(await edit(id, { components: [image(more), other] })).toMatchObject({ body: { changed: true } });
    expect(media).toEqual([`fetch ${url}?sig=2`, 'upload image/png old.png with demo']);
    expect(platform.calls).toEqual([['edit', template.id, { components: [written('4::old.png'), other] }]]);
  });

  test.each([
    ['the stored URL', { header_source: url }],
    ['what the listing shows', { example: { header_handle: [`${url}?sig=2`] } }],
  ])('%s is none: nothing is fetched or sent', async (_, more) => {
    const { id } = await withImage();
    expect(await edit(id, { components: [image(more), text] })).toMatchObject({ body: { changed: false } });
    expect([...media, ...platform.calls]).toEqual([]);
  });

  test('the stored URL beside another change: the platform takes components whole, so it gets the media again', async () => {
    const { id } = await withImage();
    await edit(id, { components: [image({ header_source: url }), changedBody] });
    expect(platform.calls).toMatchObject([
      ['edit', expect.anything(), { components: [written('4::old.png'), changedBody] }],
    ]);
  });

  test('of one card', async () => {
    const cards = [card(written(`${url}?sig=1`)), card(written('https://scontent.example.com/2.png'))];
    const { id } = await stored({ category: 'MARKETING', components: [text, { type: 'CAROUSEL', cards }] });
    const given = [
      card(image({ header_source: 'https://a.example.com/1.png' })),
      card(image({ header_source: 'https://scontent.example.com/2.png' })),
    ];
    await edit(id, { components: [text, { type: 'CAROUSEL', cards: given }] });
    const sent = [card(written('4::1.png')), card(written('4::2.png'))];
    expect(platform.calls).toMatchObject([
      ['edit', expect.anything(), { components: [text, { type: 'CAROUSEL', cards: sent }] }],
    ]);
  });

  test.each([
    [
      'two sources',
      image({ header_source: 'https://a.example.com/x.png', header_handle: '4::x' }),
      'one source of media',
    ],
    ['a private address', image({ header_source: 'https://127.0.0.1/x.png' }), 'must name a public host'],
    ['no image', image({ header_source: 'https://a.example.com/x.txt' }), 'IMAGE media must be'],
  ])('%s: 400, nothing uploaded or sent', async (_, header, message) => {
    const { id } = await withImage();
    const answer = await edit(id, { components: [header, text] });
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } });
    expect([...media.filter((step) => step.startsWith('upload')), ...platform.calls]).toEqual([]);
  });
});
