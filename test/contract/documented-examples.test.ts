import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demo, demoRedirect } from '../../infra/openapi/examples.ts';
import type { ExampleDocument, OperationDocument } from '../../infra/openapi/operation.ts';
import { operations } from '../../infra/openapi/operations/all.ts';
import { documentedParameter } from '../../infra/openapi/paths.ts';
import { type RouteEntry, routes } from '../../infra/routes.ts';
import { redirectStore } from '../../lib/redirects/redirect-store.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { addressOf } from '../support/addresses.ts';
import { type ApiReply, api, as, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { forgetWebhook } from '../support/forget-webhook.ts';
import { type Operation, openApi, operationOf, type Parameter } from '../support/openapi.ts';
import { runningTarget } from '../support/running-target.ts';
import { dispatchTo, reportOf } from '../support/sends.ts';

// Every example of functions/openapi.json runs on the demo data (D48). The answer has the status and the content of the
// example. The order is that of the operations, which build on each other.

interface Shown {
  readonly value: unknown;
}
interface Shows {
  readonly examples?: Readonly<Record<string, Shown>>;
}

const target = runningTarget();
const created = 'order_ready';
/** The service reads only this header of a picture: 1 by 1, 8 bits of RGB. */
const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02', 'latin1');

const callerOf = (operation: string) => (operation === 'clients-list' ? 'operator' : 'supervisor1001');

/** These values differ from stack to stack. */
let dispatchId = '';
let createdId = '';

beforeAll(async () => {
  // Other files may have changed the documents of this template, and the examples name the seeded one.
  await eraseTemplate(target, 'order_update');
  await synchronize('supervisor1001');
  const redirects = redirectStore(target.documentClient, target.tableName('redirects'));
  const { code, url } = demoRedirect;
  const button = { templateKey: templateKey({ wabaId: '1', name: 'gone', language: 'en_US' }), place: 'buttons[0]' };
  await redirects.put([{ code, url }], { ...button, clientId: 1001, wabaId: '1', createdAtMs: Date.now() });
  await redirects.keep([code], button.templateKey);
});

afterAll(async () => {
  await platform(`DELETE /_control/templates/${createdId}`);
  await eraseTemplate(target, created);
  await forgetWebhook(1001);
});

const cases = Object.entries(operations).flatMap(([operation, { examples }]) =>
  Object.keys(examples).map((name) => [operation, name] as const),
);

describe('each example', () => {
  test.each(cases)('%s: %s', async (name, example) => {
    const route = routeOf(name);
    const { operation } = operationOf(route);
    const { status, answer } = (operations[name] as OperationDocument).examples[example] as ExampleDocument;
    // A dispatch whose messages all arrived has nothing to retry.
    if (name === 'messages-retry') dispatchId = await dispatchThatFailed();
    if (name === 'spend-get') await deliveredOne();
    const asked = requestOf(route, operation, example);
    const ask = async () =>
      api(asked.route, route.public === true ? asked : { ...asked, token: await tokenOf(callerOf(name)) });
    // A second send gives the list of dispatches a second page.
    if (name === 'messages-send') await api(asked.route, { body: asked.body, token: await tokenOf('supervisor1001') });
    // The platform accepts no edit of a template in review.
    if (name === 'templates-edit') await platform(`POST /_control/templates/${createdId}`, { status: 'REJECTED' });
    // The synchronization of another file may still be running.
    const reply = await eventually(`${name} is answered`, async () => {
      const given = await ask();
      return given.body?.code === 'sync_in_progress' || given.body?.code === 'request_in_progress' ? undefined : given;
    });
    expect([reply.status, reply.text]).toEqual([status, expect.any(String)]);
    dispatchId = reply.headers.get('dispatch-id') ?? dispatchId;
    for (const link of Object.values(linksOf(operation, status))) {
      const linked = await follow(link, asked.route, reply);
      expect([linked.status, linked.text]).toEqual([200, expect.stringMatching(shownByLink[name] ?? /^$/)]);
    }
    if (answer === undefined) return;
    const { content } = (operation.responses as Record<number, { content: Record<string, Shows> }>)[status] ?? {};
    const [type = '', { examples }] = Object.entries(content ?? {})[0] ?? ['', {}];
    const told = placesOf(type === 'text/plain' ? reply.text : reply.body);
    expect(placesOf(examples?.[example]?.value).filter((place) => !told.includes(place))).toEqual([]);
    if (name === 'templates-create') createdId = reply.body.id;
  });
});

/** The service counts nothing as spent before a receipt proves a delivery. */
async function deliveredOne(): Promise<void> {
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
  await dispatchTo(['549299100001'], { did: demo.did });
  await eventually('it is delivered, and counted', async () => {
    const spent = await as('supervisor1001', 'GET /v1/spend?group=did');
    return spent.body.data.length > 0 ? true : undefined;
  });
  await tellAt(addressOf('platformUrl'), null);
}

/** Returns a dispatch whose first recipient the platform could not reach. */
async function dispatchThatFailed(): Promise<string> {
  const people = Array.from({ length: 11 }, (_, at) => String(549_299_000_000 + at));
  await platform('POST /_control/faults', { match: { to: people[0] }, action: { code: 131026 }, times: 1 });
  const failed = await dispatchTo(people, { did: demo.did });
  await reportOf(failed, ({ counts }) => counts.failed > 0, { did: demo.did });
  return failed;
}

interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

function linksOf({ responses }: Operation, status: number): Readonly<Record<string, Link>> {
  return (responses[status] as { readonly links?: Readonly<Record<string, Link>> }).links ?? {};
}

/** The answer behind a link must match. */
const shownByLink: Readonly<Record<string, RegExp>> = {
  'messages-send': /"dispatch_id":"\w{26}"/,
  'messages-retry': /"retry_of":"\w{26}"/,
  'templates-create': /"name":"order_ready".*"total":1/,
  'templates-list': /"sendable":/,
};

/** Follows a link of an example with the values of its answer. */
async function follow({ operationId, parameters }: Link, route: string, reply: ApiReply): Promise<ApiReply> {
  const target = routeOf(operationId);
  const { operation } = operationOf(target);
  const filled = (operation.parameters ?? []).map(({ examples: _, ...parameter }: Parameter & Shows) => {
    const expression = parameters[parameter.name];
    if (expression === undefined) return parameter;
    return { ...parameter, examples: { link: { value: meantBy(expression, route, reply) } } };
  });
  const asked = requestOf(target, { ...operation, parameters: filled }, 'link');
  return api(asked.route, { token: await tokenOf('supervisor1001') });
}

/** Returns the value of an OpenAPI runtime expression of the kinds in the document, or of a constant. */
function meantBy(expression: string, route: string, { headers, body }: ApiReply): unknown {
  const [, header] = /^\$response\.header\.(.+)$/.exec(expression) ?? [];
  if (header !== undefined) return headers.get(header);
  const [, pointer] = /^\$response\.body#\/(.+)$/.exec(expression) ?? [];
  if (pointer !== undefined) return pointer.split('/').reduce((holder, key) => holder?.[key], body);
  if (expression === '$request.path.did') return route.split('/')[4];
  if (expression.startsWith('$')) throw new Error(`not understood: ${expression}`);
  return expression;
}

function routeOf(operation: string): RouteEntry {
  return routes.find((each) => each.operation === operation) as RouteEntry;
}

/** Builds the request of an example from the document alone. */
function requestOf(route: RouteEntry, { parameters = [], requestBody }: Operation, example: string) {
  const shownBy = (parameter: Shows) => parameter.examples?.[example]?.value;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => `{${documentedParameter(route.path, name)}}`);
  for (const parameter of parameters) {
    const value = shownBy(parameter as Shows);
    if (value === undefined) continue;
    const text = parameter.name === 'dispatchId' ? dispatchId : String(value);
    if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(text));
    else if (parameter.in === 'query') query.set(parameter.name, text);
    else headers[parameter.name] = text;
  }
  const body = (requestBody?.content['application/json'] as Shows | undefined)?.examples?.[example]?.value;
  return {
    route: `${route.method} ${path}${query.size === 0 ? '' : `?${query}`}`,
    headers,
    body,
  };
}

/** Returns every place of a value with its type; for a list, the places of its first item. */
function placesOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [`${path} list`, ...(value.length === 0 ? [] : placesOf(value[0], `${path}[]`))];
  if (value === null || typeof value !== 'object') return [`${path} ${value === null ? 'null' : typeof value}`];
  return Object.entries(value).flatMap(([key, each]) => placesOf(each, `${path}.${key}`));
}

const FormValue = v.object({ template: v.looseObject({ name: v.string() }), file: v.string() });

test('a form is taken as it is shown', async () => {
  const { operation } = operationOf(routeOf('templates-create'));
  const shown = operation.requestBody?.content['multipart/form-data'] as Shows | undefined;
  const { template } = v.parse(FormValue, shown?.examples?.['form']?.value);
  const form = new FormData();
  form.set('template', new Blob([JSON.stringify(template)], { type: 'application/json' }));
  form.set('file', new Blob([png], { type: 'image/png' }), 'header.png');
  const sent = new Response(form);
  const reply = await api(requestOf(routeOf('templates-create'), operation, 'text').route, {
    token: await tokenOf('supervisor1001'),
    headers: { 'content-type': sent.headers.get('content-type') ?? '' },
    body: new Uint8Array(await sent.arrayBuffer()),
  });
  expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('PENDING')]);
  await platform(`DELETE /_control/templates/${reply.body.id}`);
  await eraseTemplate(target, template.name);
});

test('every example of the document is one of these', () => {
  const shown = new Set(
    Object.values(openApi.paths as Record<string, Record<string, Operation>>).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, parameters = [], requestBody, responses }) =>
        [...parameters, requestBody?.content['application/json'], ...contentsOf(responses)].flatMap((each) =>
          Object.keys((each as Shows | undefined)?.examples ?? {}).map((name) => `${operationId} ${name}`),
        ),
      ),
    ),
  );
  const run = cases.map((each) => each.join(' '));
  expect([...shown].filter((each) => !run.includes(each))).toEqual([]);
});

function contentsOf(responses: Operation['responses']): unknown[] {
  return Object.values(responses).flatMap((response) =>
    'content' in response ? Object.values(response.content as object) : [],
  );
}
