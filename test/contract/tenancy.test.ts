import { beforeAll, expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { api, synchronize, tokenOf } from '../support/api.ts';
import { builtOperations } from '../support/built-operations.ts';
import { thorough } from '../support/thorough.ts';
import { onClientData } from './tenancy/client-data.ts';
import { onDids } from './tenancy/dids.ts';
import { onDispatches } from './tenancy/dispatches.ts';
import { answersTo1001, callers, entered } from './tenancy/rules.ts';
import { documents, onTemplates } from './tenancy/templates.ts';

/*
 * Every route of a client is called by every kind of caller, with every client, spelling and place of client_id, and
 * kind of DID (R36). A new route needs cases in `tenancy/`, or a reason.
 */

/** These routes have no client, each for its reason. */
const ofNoClient: Readonly<Record<string, string>> = {
  health: 'public, and tells nothing',
  login: 'public: the caller has no token yet',
  redirect: 'public: the recipient of a message may follow its button',
  'platform-webhook-verify': 'public: the platform asks, and a word of its app answers',
  'platform-webhook-receive': 'public: a signature says who speaks, and the WABA whose messages it may speak of (D38)',
  'pricing-get': 'list prices are the same for every caller (D32)',
};

/** These texts belong to client 1002 alone: names and ids of the second WABA, its DIDs, its document ids. */
let foreignTexts: readonly string[];

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
  const token = await tokenOf('operator');
  const pages = [1, 2].map((page) => api(`GET /v1/templates?client_id=1002&size=100&page=${page}`, { token }));
  const templates = (await Promise.all(pages)).flatMap(({ body }) => body.data);
  const own = await api('GET /v1/templates?client_id=1001&name=order_update', { token });
  documents.shared[1001] = own.body.data[0].id;
  documents.shared[1002] = templates.find(({ platform_template: { name } }) => name === 'order_update').id;
  documents.of1002 = templates.find(({ waba_id }) => waba_id === '200000000000002').id;
  foreignTexts = [
    '200000000000002',
    'Boreal',
    '600000000000002',
    ...templates.flatMap(({ id, waba_id, platform_template: { id: platformId, name } }) =>
      waba_id === '200000000000002' ? [id, platformId, name] : [id],
    ),
  ];
});

onDids();
onDispatches();
onTemplates();
onClientData();

test('every route was entered by every kind of caller, but for those that work for no client', () => {
  const users = callers.map(({ user }) => user);
  const notEntered = routes
    .filter(({ operation }) => builtOperations().includes(operation) && ofNoClient[operation] === undefined)
    .map(({ method, path }) => `${method} ${path}`)
    .filter((key) => !users.every((user) => entered.get(key)?.has(user)));
  expect(notEntered).toEqual([]);
});

test('every exemption is of a route, and every public route has one', () => {
  const operations = routes.map(({ operation }) => operation);
  expect(operations).toEqual(expect.arrayContaining(Object.keys(ofNoClient)));
  for (const route of routes) if (route.public) expect(ofNoClient).toHaveProperty(route.operation);
});

test('nothing of client 1002 was in any answer to client 1001', () => {
  expect(answersTo1001.length).toBeGreaterThan(thorough ? 1_000 : 500);
  expect(foreignTexts.length).toBeGreaterThan(350);
  const leaked = foreignTexts.filter((text) => answersTo1001.some((answer) => answer.includes(text)));
  expect(leaked).toEqual([]);
});
