import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoRedirect } from '../../infra/openapi/examples.ts';
import type { ExampleDocument, OperationDocument } from '../../infra/openapi/operation.ts';
import { operations } from '../../infra/openapi/operations/all.ts';
import { documentedParameter } from '../../infra/openapi/paths.ts';
import { type RouteEntry, routes } from '../../infra/routes.ts';
import { redirectStore } from '../../lib/redirects/redirect-store.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { type ApiReply, api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { forgetWebhook } from '../support/forget-webhook.ts';
import { type Operation, openApi, operationOf } from '../support/openapi.ts';
import { runningTarget } from '../support/running-target.ts';

// Every example of functions/openapi.json, as it stands there, asked of the stack with the demo data (D48): the answer has
// the example's status and everything that the example shows. In the order of the operations, which build on each other.

interface Shown {
  readonly value: unknown;
}
interface Shows {
  readonly examples?: Readonly<Record<string, Shown>>;
}

const target = runningTarget();
const created = 'order_ready';

/** What is not the same on every stack. */
let dispatchId = '';
let createdId = '';

beforeAll(async () => {
  // The documents that other files have assigned and unassigned may have taken the place of the one that the examples name.
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
    const asked = requestOf(route, operation, example);
    const ask = async () =>
      api(asked.route, route.public === true ? asked : { ...asked, token: await tokenOf('supervisor1001') });
    // A second send gives the list of dispatches a second page.
    if (name === 'messages-send') await api(asked.route, { body: asked.body, token: await tokenOf('supervisor1001') });
    // The platform takes no edit of what it is still looking at.
    if (name === 'templates-edit') await platform(`POST /_control/templates/${createdId}`, { status: 'REJECTED' });
    // The synchronization of another file may still be under way.
    const reply = await eventually(`${name} is answered`, async () => {
      const given = await ask();
      return given.body?.code === 'sync_in_progress' || given.body?.code === 'request_in_progress' ? undefined : given;
    });
    expect([reply.status, reply.text]).toEqual([status, expect.any(String)]);
    if (answer === undefined) return;
    const { content } = (operation.responses as Record<number, { content: Record<string, Shows> }>)[status] ?? {};
    const [type = '', { examples }] = Object.entries(content ?? {})[0] ?? ['', {}];
    const told = placesOf(type === 'text/plain' ? reply.text : reply.body);
    expect(placesOf(examples?.[example]?.value).filter((place) => !told.includes(place))).toEqual([]);
    dispatchId = reply.headers.get('dispatch-id') ?? dispatchId;
    if (name === 'templates-create') createdId = reply.body.id;
  });

  test.each(linksIn(openApi))('$from leads to $link.operationId with what its answer says', async ({ from, link }) => {
    const before = routeOf(from);
    const { operation } = operationOf(before);
    const [example = ''] = Object.keys((operations[from] as OperationDocument).examples);
    const token = await tokenOf('supervisor1001');
    if (from === 'templates-create') await eraseTemplate(target, created);
    if (from === 'templates-create') await platform(`DELETE /_control/templates/${createdId}`);
    const asked = requestOf(before, operation, example);
    const reply = await api(asked.route, { ...asked, headers: {}, token });
    if (from === 'templates-create') createdId = reply.body.id;
    const values = Object.entries(link.parameters).map(([name, expression]) => {
      const text = String(meantBy(expression, asked.route, reply));
      return [name, { examples: { link: { value: text } } }] as const;
    });
    const after = routeOf(link.operationId);
    const { parameters = [] } = operationOf(after).operation;
    const filled = parameters.map((each) => ({
      ...each,
      examples: undefined,
      ...Object.fromEntries(values)[each.name],
    }));
    const next = requestOf(after, { ...operationOf(after).operation, parameters: filled }, 'link');
    const linked = await api(next.route, { token });
    expect([linked.status, JSON.stringify(linked.body)]).toEqual([
      200,
      expect.stringMatching(shownByLink[from] ?? /./),
    ]);
  });
});

interface Link {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** What the answer that a link leads to must have. */
const shownByLink: Readonly<Record<string, RegExp>> = {
  'messages-send': /"dispatch_id":"\w{26}"/,
  'templates-create': /"name":"order_ready".*"total":1/,
  'templates-list': /"sendable":/,
};

function linksIn({ paths }: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }) {
  return Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, responses }) =>
      Object.values((responses['200'] as { links?: Record<string, Link> } | undefined)?.links ?? {}).map((link) => ({
        from: operationId,
        link,
      })),
    ),
  );
}

/** A runtime expression of OpenAPI, of the kinds that the document has. */
function meantBy(expression: string, route: string, { headers, body }: ApiReply): unknown {
  const [, header] = /^\$response\.header\.(.+)$/.exec(expression) ?? [];
  if (header !== undefined) return headers.get(header);
  const [, pointer] = /^\$response\.body#\/(.+)$/.exec(expression) ?? [];
  if (pointer !== undefined) return pointer.split('/').reduce((holder, key) => holder?.[key], body);
  if (expression === '$request.path.did') return route.split('/').at(-1);
  throw new Error(`not understood: ${expression}`);
}

function routeOf(operation: string): RouteEntry {
  return routes.find((each) => each.operation === operation) as RouteEntry;
}

/** The request of an example, from the document alone. */
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
    ...(body === undefined ? {} : { body }),
  };
}

/** Every place of a value with its type; of a list, the places of its first item. */
function placesOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [`${path} list`, ...(value.length === 0 ? [] : placesOf(value[0], `${path}[]`))];
  if (value === null || typeof value !== 'object') return [`${path} ${value === null ? 'null' : typeof value}`];
  return Object.entries(value).flatMap(([key, each]) => placesOf(each, `${path}.${key}`));
}

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
