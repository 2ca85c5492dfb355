import { expect, test } from 'vitest';
import { ReplyTooLarge } from '../../../../lib/aws/whole-reply.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import type { PlatformCall, PlatformTransport } from '../../../../lib/platform/transport.ts';
import { platformTemplates } from '../../../../lib/templates/model/platform-templates.ts';
import { makeTemplate } from '../../../support/templates.ts';

const waba = { wabaId: '200000000000001', credential: 'demo' };
const credentialOf = async (name: string) => ({ accessToken: `token of ${name}`, appId: '1' });

/** Returns these bodies in order and records the requests. */
function answering(...bodies: Record<string, unknown>[]): { call: PlatformTransport; calls: PlatformCall[] } {
  const calls: PlatformCall[] = [];
  return {
    calls,
    call: async (call) => {
      calls.push(call);
      const body = bodies[calls.length - 1];
      if (body === undefined) throw new Error('one call too many');
      return { body };
    },
  };
}

const next = 'https://elsewhere.example/v1/x?access_token=t&after=fromNext';

test('a page is asked for with all fields, 100 at a time, and its cursor comes from the reply', async () => {
  const { call, calls } = answering({ data: [makeTemplate()], paging: { cursors: { after: 'c1' }, next } });
  const page = await platformTemplates(call, credentialOf).page(waba, 'c0');
  expect(page).toEqual({ templates: [makeTemplate()], unreadable: [], after: 'c1' });
  expect(calls[0]).toMatchObject({
    method: 'GET',
    path: '200000000000001/message_templates',
    accessToken: 'token of demo',
    query: { limit: '100', after: 'c0' },
  });
  const fields = calls[0]?.query?.['fields']?.split(',');
  for (const field of ['id', 'quality_score', 'rejected_reason', 'previous_category', 'optimization_spec']) {
    expect(fields).toContain(field);
  }
});

test.each([
  ['no paging', { data: [] }, undefined],
  ['cursors without next are the end', { data: [makeTemplate()], paging: { cursors: { after: 'c1' } } }, undefined],
  ['next on an empty page goes on', { data: [], paging: { next } }, 'fromNext'],
])('%s', async (_, body, after) => {
  const page = await platformTemplates(answering(body).call, credentialOf).page(waba);
  expect(page.after).toBe(after);
});

test('one template that cannot be read does not stop the others', async () => {
  const odd = { id: '2', name: 'odd', language: 'es', status: 7 };
  const { call } = answering({ data: [odd, makeTemplate(), 'text', { name: 'only' }] });
  expect(await platformTemplates(call, credentialOf).page(waba)).toEqual({
    templates: [makeTemplate()],
    unreadable: [{ id: '2', name: 'odd', language: 'es' }, {}, { name: 'only' }],
  });
});

test('a template that is there and cannot be read is not taken for gone', async () => {
  const wanted = { name: 'odd', language: 'es' };
  for (const entry of [{ id: '2', ...wanted, status: 7 }, { name: 'odd' }, 'text']) {
    const find = platformTemplates(answering({ data: [entry] }).call, credentialOf).find(waba, wanted);
    await expect(find).rejects.toMatchObject({ kind: 'ambiguous' });
  }
  const others = [{ id: '2', name: 'odd', language: 'en', status: 7 }, { name: 'odder' }];
  expect(await platformTemplates(answering({ data: others }).call, credentialOf).find(waba, wanted)).toBeUndefined();
});

test('null is the same as absent, at any depth', async () => {
  const component = { type: 'BODY', text: 'a', format: null, example: null, buttons: null };
  const { call } = answering({ data: [{ ...makeTemplate(), components: [component], quality_score: null }] });
  const page = await platformTemplates(call, credentialOf).page(waba);
  expect(page.templates).toEqual([makeTemplate({ components: [{ type: 'BODY', text: 'a' }] })]);
});

test.each([
  ['no list', { data: {} }],
  ['a cursor that does not move', { data: [], paging: { cursors: { after: 'c0' }, next } }],
  ['a further page without cursor', { data: [], paging: { next: 'https://elsewhere.example/' } }],
])('%s is an ambiguous answer', async (_, body) => {
  await expect(platformTemplates(answering(body).call, credentialOf).page(waba, 'c0')).rejects.toMatchObject({
    name: 'PlatformFailure',
    kind: 'ambiguous',
  });
});

test('find takes the exact name in the wanted language, also from a later page', async () => {
  const longer = makeTemplate({ name: 'order_update_2' });
  const spanish = makeTemplate({ language: 'es' });
  const { call, calls } = answering(
    { data: [longer, spanish], paging: { cursors: { after: 'c1' }, next } },
    { data: [makeTemplate()] },
  );
  const platform = platformTemplates(call, credentialOf);
  expect(await platform.find(waba, { name: 'order_update', language: 'en-us' })).toEqual(makeTemplate());
  expect(calls.map(({ query }) => [query?.['name'], query?.['after']])).toEqual([
    ['order_update', undefined],
    ['order_update', 'c1'],
  ]);
});

test('find: none of that name', async () => {
  const { call } = answering({ data: [makeTemplate({ name: 'order_update_2' })] });
  expect(
    await platformTemplates(call, credentialOf).find(waba, { name: 'order_update', language: 'en_US' }),
  ).toBeUndefined();
});

test('a look-up tells what has the name in other languages, on every page when there is no such template', async () => {
  const [spanish, french] = [makeTemplate({ language: 'es' }), makeTemplate({ language: 'fr' })];
  const { call } = answering(
    { data: [spanish, makeTemplate({ name: 'order_update_2' })], paging: { cursors: { after: 'c1' }, next } },
    { data: [french] },
  );
  const wanted = { name: 'order_update', language: 'en_US' };
  expect(await platformTemplates(call, credentialOf).lookUp(waba, wanted)).toEqual({ sameName: [spanish, french] });
  const { call: having } = answering({ data: [spanish, makeTemplate()] });
  expect(await platformTemplates(having, credentialOf).lookUp(waba, wanted)).toEqual({
    found: makeTemplate(),
    sameName: [spanish],
  });
});

test('a look-up of an unknown name tells the longer ones that the filter let through, but for what is gone', async () => {
  const gone = makeTemplate({ name: 'order_update_3', status: 'DELETED' });
  const { call } = answering({ data: [makeTemplate({ name: 'order_update_2' }), gone] });
  const wanted = { name: 'order_update', language: 'en_US' };
  expect(await platformTemplates(call, credentialOf).lookUp(waba, wanted)).toEqual({
    sameName: [],
    longerNames: ['order_update_2'],
  });
});

test('a probe asks for one id, and passes the failure on', async () => {
  const { call, calls } = answering({ data: [] });
  await platformTemplates(call, credentialOf).probe(waba);
  expect(calls[0]?.query).toEqual({ fields: 'id', limit: '1' });
  const down: PlatformTransport = async () => {
    throw new PlatformFailure('not_sent');
  };
  await expect(platformTemplates(down, credentialOf).probe(waba)).rejects.toThrow(PlatformFailure);
});

test('a page that is too large is asked for with fewer templates, and of one that is too large alone the name is read', async () => {
  const calls: PlatformCall[] = [];
  const call: PlatformTransport = async (asked) => {
    calls.push(asked);
    if (asked.query?.['fields'] !== 'id,name,language') {
      throw new PlatformFailure('ambiguous', { cause: new ReplyTooLarge() });
    }
    return { body: { data: [{ id: '9', name: 'huge', language: 'es' }], paging: { cursors: { after: 'c1' }, next } } };
  };
  expect(await platformTemplates(call, credentialOf).page(waba, 'c0')).toEqual({
    templates: [],
    unreadable: [{ id: '9', name: 'huge', language: 'es' }],
    after: 'c1',
  });
  expect(calls.map(({ query }) => [query?.['limit'], query?.['after']])).toEqual([
    ['100', 'c0'],
    ['10', 'c0'],
    ['1', 'c0'],
    ['1', 'c0'],
  ]);
});

test('a page with a template nested 100,000 levels deep is read, nulls left out where schemas look', async () => {
  let deep: unknown = null;
  for (let level = 0; level < 100_000; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
  const odd = { ...makeTemplate({ name: 'odd' }), optimization_spec: { deep }, sub_category: null };
  const page = await platformTemplates(answering({ data: [odd, makeTemplate()] }).call, credentialOf).page(waba);
  expect(page.templates.map(({ name }) => name)).toEqual(['odd', 'order_update']);
  expect(page.templates[0]).not.toHaveProperty('sub_category');
});

test.each([
  ['an answer', makeTemplate(), { kind: 'found', template: makeTemplate() }],
  ['an answer with nulls', { ...makeTemplate(), quality_score: null }, { kind: 'found', template: makeTemplate() }],
  ['what has no form', { id: '1' }, { kind: 'unreadable' }],
  ['no such node', new PlatformFailure('refused', { httpStatus: 400, code: 100, subcode: 33 }), { kind: 'missing' }],
  ['404', new PlatformFailure('refused', { httpStatus: 404, code: 803 }), { kind: 'missing' }],
  ['one too large', new PlatformFailure('ambiguous', { cause: new ReplyTooLarge() }), { kind: 'unreadable' }],
])('a template by its id: %s', async (_, reply, reading) => {
  const asked: PlatformCall[] = [];
  const call: PlatformTransport = async (made) => {
    asked.push(made);
    if (reply instanceof PlatformFailure) throw reply;
    return { body: reply };
  };
  expect(await platformTemplates(call, credentialOf).read(waba, '12')).toEqual(reading);
  expect(asked).toMatchObject([{ method: 'GET', path: '12', accessToken: 'token of demo' }]);
});

test.each([
  new PlatformFailure('refused', { httpStatus: 400, code: 80008 }),
  new PlatformFailure('refused', { httpStatus: 401, code: 190 }),
  new PlatformFailure('ambiguous', { httpStatus: 503 }),
  new PlatformFailure('not_sent'),
])('a template by its id is not missing because of %s', async (failure) => {
  const call: PlatformTransport = () => Promise.reject(failure);
  await expect(platformTemplates(call, credentialOf).read(waba, '12')).rejects.toBe(failure);
});

test('the maker of a template is read with it; the name of a generated template is never suggested (D23)', async () => {
  const [generated, own] = ['AUTO_GENERATED', 'MANUAL'].map((source) => makeTemplate({ source }));
  const { call, calls } = answering({ data: [generated, own] });
  expect((await platformTemplates(call, credentialOf).page(waba)).templates).toEqual([generated, own]);
  expect(calls[0]?.query?.['fields']?.split(',')).toContain('source');
  const shorter = { name: makeTemplate().name.slice(0, -1), language: 'en_US' };
  const lookUp = (data: unknown) => platformTemplates(answering({ data }).call, credentialOf).lookUp(waba, shorter);
  expect(await lookUp([generated])).toEqual({ sameName: [] });
  expect(await lookUp([own])).toMatchObject({ longerNames: [makeTemplate().name] });
});
