import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { redirectCode } from '../../../../lib/redirects/code.ts';
import { type RedirectStore, redirectStore } from '../../../../lib/redirects/redirect-store.ts';
import { offeredRedirects } from '../../../../lib/templates/authoring/button-redirects.ts';
import { creationStore } from '../../../../lib/templates/create/creation-store.ts';
import { documentId, templateKey } from '../../../../lib/templates/model/template-key.ts';
import { templateStore } from '../../../../lib/templates/model/template-store.ts';
import { call } from '../../../support/calls.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { failures, type RecordedPlatform, recordedPlatform } from '../../../support/management.ts';
import { MemoryAudit } from '../../../support/memory-audit.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { nothingWaits } from '../../../support/no-template-holds.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { makeTemplate } from '../../../support/templates.ts';

const { templatesCreate } = await import('../../../../functions/templates-create.ts');
const { templatesEdit } = await import('../../../../functions/templates-edit.ts');

const caller = { userId: 'u-1', clientId: 1001 };
const waba = makeWaba();
const directory = memoryDirectory({ wabas: [waba], channels: [makeChannel()] });
const baseUrl = 'https://go.example.com/r';
const target = 'https://shop.example.com/sale';
const nowMs = 1_800_000_000_000;
const client = localDocumentClient();

const body = { type: 'BODY', text: 'Hello there, good news.' };
const linkTo = (url: string) => ({ type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Open', url }] });
const redirectTo = (code: string, base = baseUrl) => ({
  type: 'BUTTONS',
  buttons: [{ type: 'URL', text: 'Open', url: `${base}/{{1}}`, example: [`${base}/${code}`] }],
});

let templates: string;
let redirects: string;
let platform: RecordedPlatform;
let count = 0;
beforeAll(async () => {
  [templates, redirects] = [await freshTable('templates'), await freshTable('redirects')];
});
beforeEach(() => {
  platform = recordedPlatform();
  count += 1;
});

const store = () => redirectStore(client, redirects);
const found = (code: string) => store().urlOf(code);
const nameOf = () => `template_${count}`;
const keyOf = () => templateKey({ wabaId: waba.wabaId, name: nameOf(), language: 'en_US' });
const codeOf = (url = target) => redirectCode({ templateKey: keyOf(), place: 'buttons[0]', url });

function ports(over: Partial<RedirectStore> = {}) {
  return {
    directory,
    management: platform.management,
    platformTemplates: platform.platformTemplates,
    redirects: offeredRedirects(baseUrl, { ...store(), ...over }),
    fetchPublic: async () => ({ bytes: Buffer.alloc(0) }),
    uploadMedia: async () => '4::x',
    events: new MemoryEvents(),
    audit: new MemoryAudit(),
    nowMs: () => nowMs,
  };
}

function create(components: readonly unknown[], over = ports(), more: object = { allow_button_url_change: true }) {
  const creations = creationStore(client, templates);
  const handler = templatesCreate({ ...over, creations, pairFaults: async () => [] });
  const draft = { name: nameOf(), language: 'en_US', category: 'MARKETING', components, ...more };
  return call(handler, caller, { path: { did: '5491100000001' }, body: JSON.stringify(draft) });
}

function edit(components: readonly unknown[], over = ports(), more: object = { allow_button_url_change: true }) {
  const handler = templatesEdit({ ...over, ...nothingWaits, templates: templateStore(client, templates) });
  const messageTemplateId = documentId({ templateKey: keyOf(), clientId: 1001, sequence: 0 });
  const path = { did: '5491100000001', messageTemplateId };
  return call(handler, caller, { path, body: JSON.stringify({ components, ...more }) });
}

/** Stores what the platform shows, as a synchronization does, whatever was there. */
function synchronized(components: readonly object[]) {
  const template = makeTemplate({ name: nameOf(), category: 'MARKETING', components: components as never });
  const { wabaId, clientIds } = waba;
  platform.found = template;
  return templateStore(client, templates).refresh({ wabaId, clientIds }, template, nowMs - 1_000);
}

const sentComponents = () =>
  platform.calls.map((each) => (each as [string, string, { components: unknown }])[2].components);

// The way of a redirect to its recipient, and what an edit changes, are in contract/redirects.test.ts.
describe('create', () => {
  test('the platform sees the redirect, which leads on once it has said yes', async () => {
    const { create: platformCreate } = platform.management;
    const management = {
      ...platform.management,
      create: async (...args: Parameters<typeof platformCreate>) => {
        expect(await found(codeOf())).toBeUndefined();
        return platformCreate(...args);
      },
    };
    expect(await create([body, linkTo(target)], { ...ports(), management })).toMatchObject({ status: 200 });
    expect(sentComponents()).toEqual([[body, redirectTo(codeOf())]]);
    expect(await found(codeOf())).toBe(target);
  });

  test.each([{}, { allow_button_url_change: false }])('without the wish (%j) static stays static', async (more) => {
    expect(await create([body, linkTo(target)], ports(), more)).toMatchObject({ status: 200 });
    expect(sentComponents()).toEqual([[body, linkTo(target)]]);
    expect(await found(codeOf())).toBeUndefined();
  });

  test('when redirects cannot be stored, the platform is not asked', async () => {
    const put = async () => {
      throw new Error('table is away');
    };
    expect(await create([body, linkTo(target)], ports({ put }))).toMatchObject({ status: 500 });
    expect(platform.calls).toEqual([]);
  });

  test.each([
    ['refuses', failures.content, { status: 400, body: { code: 'platform_refused' } }],
    ['may have taken the template', failures.brokenOff, { status: 502 }],
  ])(
    'when the platform %s, the redirect leads nowhere, and the request may be repeated',
    async (_, failure, answer) => {
      platform.failure = failure;
      expect(await create([body, linkTo(target)])).toMatchObject(answer);
      expect(await found(codeOf())).toBeUndefined();
      platform.failure = undefined;
      expect(await create([body, linkTo(target)])).toMatchObject({ status: 200 });
      expect(await found(codeOf())).toBe(target);
      const [first, taken] = sentComponents();
      expect(first).toEqual(taken);
    },
  );
});

// What is no public URL is in test/lib/http/public-url.test.ts.
test('our domain does not redirect to a private host: 400 naming the button (D19)', async () => {
  const [url, fault] = ['https://169.254.169.254/latest', 'must name a public host'];
  const refusal = {
    status: 400,
    body: { errors: [{ path: 'components[1].buttons[0].url', message: `the redirect ${fault}` }] },
  };
  expect(await create([body, linkTo(url)])).toMatchObject(refusal);
  expect(await create([body, linkTo(url)], ports(), {})).toMatchObject({ status: 200 });
  platform.calls.length = 0;
  count += 1;
  await synchronized([body]);
  expect(await edit([body, linkTo(url)])).toMatchObject(refusal);
  const card = { components: [{ type: 'HEADER', format: 'IMAGE', header_handle: '4::x' }, linkTo(url)] };
  expect(await create([body, { type: 'CAROUSEL', cards: [card, card] }])).toMatchObject({
    body: { errors: [0, 1].map((n) => ({ path: `components[1].cards[${n}].components[1].buttons[0].url` })) },
  });
  expect(platform.calls).toEqual([]);
});

describe('edit', () => {
  test('the same again is no difference, also after a synchronization has shown it in the platform’s form', async () => {
    const code = codeOf();
    for (const example of [[`${baseUrl}/${code}`], [code]]) {
      const buttons = [{ type: 'URL', text: 'Open', url: `${baseUrl}/{{1}}`, example }];
      await synchronized([body, { type: 'BUTTONS', buttons }]);
      expect(await edit([body, linkTo(target)])).toMatchObject({ body: { changed: false } });
    }
    expect(platform.calls).toEqual([]);
    expect(await found(code)).toBe(target);
  });

  test('without the flag the button is static again', async () => {
    await synchronized([body, redirectTo(codeOf())]);
    expect(await edit([body, linkTo(target)], ports(), {})).toMatchObject({ body: { changed: true } });
    expect(sentComponents()).toEqual([[body, linkTo(target)]]);
  });

  test('with another base URL the flag moves the button there', async () => {
    await synchronized([body, redirectTo(codeOf(), 'https://old.example.com')]);
    expect(await edit([body, linkTo(target)])).toMatchObject({ body: { changed: true } });
    expect(sentComponents()).toEqual([[body, redirectTo(codeOf())]]);
  });
});
