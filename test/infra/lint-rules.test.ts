import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..', '..');

const direction = {
  tests: 'Nothing imports functions or tests, except tests, and infra/openapi the schemas of the pages.',
  infra: 'Functions and lib know nothing of infra.',
  functions: 'A function imports from lib, never from another function.',
  pages: "A page is built by clientEndpoint; only health, login, redirect and the platform's webhook are public.",
  types: 'infra imports only types from lib; infra/local, infra/openapi and infra/operate may import more.',
  network:
    'Only adapters touch an SDK or the network: *-store.ts, *-queue.ts, *-network.ts, platform-*.ts, lib/aws and lib/platform.',
  rules: 'Rules import nothing but rules: take the adapter as an argument.',
  folders: 'A folder of lib imports only from folders below it.',
  parts: "A folder's parts import its own files, never the other way; deployed.ts wires them.",
  order: 'A part of a folder imports only from parts below it.',
};

const border = {
  out: 'The simulator imports nothing from outside infra/simulator.',
  into: 'The simulator is imported as #simulator, by what imports of package.json names.',
};

/** Each layer imports only from the layers before it. */
const layers = {
  folders: [
    ...[
      'observe',
      'keys',
      'aws',
      'http',
      'platform',
      'access',
      'audit',
      'redirects',
      'pricing',
      'webhooks',
      'opt-outs',
    ],
    ...['channels', 'catalog', 'templates', 'hints', 'provisioning', 'messages'],
  ],
  access: ['tokens', 'sign-in'],
  webhooks: ['config', 'delivery'],
  templates: [
    ...['model', 'rules', 'authoring', 'listing', 'assignments', 'create', 'edit', 'delete', 'status', 'sync'],
  ],
  messages: [
    ...['dispatch', 'request', 'when', 'resolve', 'pace', 'budget', 'holds', 'inbound', 'send', 'accept'],
    ...['sender', 'receipts', 'report', 'spend', 'retry', 'find', 'rehearse', 'erase', 'deployed'],
  ],
} as const;

/** Imports a type between each pair of folders: upwards is refused, downwards is allowed. */
function layerCases(place: string, kind: keyof typeof layers): [string, string, string | undefined][] {
  const order: readonly string[] = layers[kind];
  const refusal = kind === 'folders' ? direction.folders : direction.order;
  return order.flatMap((from, at) =>
    order
      .filter((to) => to !== from)
      .map((to): [string, string, string | undefined] => [
        `${place}${from}/to-${to}.ts`,
        `import type { Thing } from '../${to}/thing.ts';`,
        order.indexOf(to) > at ? refusal : undefined,
      ]),
  );
}
const literal = 'A regular expression must be a literal.';

/** Our own rules find this refusal in one line of code of the file; undefined means none. */
const cases: readonly (readonly [file: string, code: string, refusal: string | undefined])[] = [
  ...layerCases('lib/', 'folders'),
  ...layerCases('lib/access/', 'access'),
  ...layerCases('lib/webhooks/', 'webhooks'),
  ...layerCases('lib/templates/', 'templates'),
  ...layerCases('lib/messages/', 'messages'),
  ['lib/catalog/deep/a.ts', "import type { Thing } from '../../messages/request/thing.ts';", direction.folders],
  ['lib/messages/request/deep.ts', "import type { Thing } from '../../templates/model/thing.ts';", undefined],

  ['lib/messages/own.ts', "import type { Thing } from './send/thing.ts';", direction.parts],
  ['lib/webhooks/deployed.ts', "import { thing } from './delivery/thing.ts';", undefined],
  ['lib/webhooks/delivery/wired.ts', "import type { Thing } from '../deployed.ts';", direction.parts],
  ['lib/webhooks/delivery/own.ts', "import type { Thing } from '../event.ts';", undefined],

  ['lib/templates/a.ts', "import { handler } from '../../functions/login.ts';", direction.tests],
  ['lib/templates/b.ts', "import type { Endpoint } from '../../functions/login.ts';", direction.tests],
  ['infra/a.ts', "import { handler } from '../functions/login.ts';", direction.tests],
  ['infra/local/a.ts', "import { free } from '../../test/support/calls.ts';", direction.tests],
  ['infra/openapi/a.ts', "import { LoginBody } from '../../functions/login.ts';", undefined],
  ['infra/openapi/b.ts', "import { free } from '../../test/support/calls.ts';", direction.tests],
  ['infra/b.ts', "import { functions } from './functions.ts';", undefined],
  ['test/functions/a.ts', "import { login } from '../../functions/login.ts';", undefined],

  ['lib/access/a.ts', "import { tables } from '../../infra/tables.ts';", direction.infra],
  ['functions/a.ts', "import type { TableName } from '../infra/tables.ts';", direction.infra],
  ['functions/b.ts', "import { login } from './login.ts';", direction.functions],
  ['functions/c.ts', "import { signIn } from '../lib/access/sign-in/sign-in.ts';", undefined],

  ['functions/p.ts', "import { endpoint } from '../lib/http/endpoint.ts';", direction.pages],
  ['functions/q.ts', "import { type Endpoint, endpoint } from '../lib/http/endpoint.ts';", direction.pages],
  ['functions/r.ts', "import type { Endpoint } from '../lib/http/endpoint.ts';", undefined],
  ['functions/s.ts', "import { publicEndpoint } from '../lib/http/public-endpoint.ts';", direction.pages],
  [
    'functions/platform-webhook-receive.ts',
    "import { publicEndpoint } from '../lib/http/public-endpoint.ts';",
    undefined,
  ],
  [
    'functions/platform-webhook.ts',
    "import { publicEndpoint } from '../lib/http/public-endpoint.ts';",
    direction.pages,
  ],
  ['functions/health.ts', "import { publicEndpoint } from '../lib/http/public-endpoint.ts';", undefined],
  ['functions/t.ts', "import { clientEndpoint } from '../lib/access/client-endpoint.ts';", undefined],

  ['infra/c.ts', "import { callerOf } from '../lib/access/caller.ts';", direction.types],
  ['infra/constructs/a.ts', "export { callerOf } from '../../lib/access/caller.ts';", direction.types],
  ['infra/constructs/b.ts', "import { Stack } from 'aws-cdk-lib/core';", undefined],
  ['infra/d.ts', "import type { Caller } from '../lib/access/caller.ts';", undefined],
  ['infra/operate/a.ts', "import { callerOf } from '../../lib/access/caller.ts';", undefined],

  ['lib/access/b.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", direction.network],
  ['lib/access/c.ts', "import { type SQSClient } from '@aws-sdk/client-sqs';", direction.network],
  ['lib/access/d.ts', "import type { SQSClient } from '@aws-sdk/client-sqs';", undefined],
  ['lib/access/e.ts', "export const sqs = await import('@aws-sdk/client-sqs');", direction.network],
  ['lib/access/f.ts', "import { request } from 'node:https';", direction.network],
  ['functions/d.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", direction.network],
  ['lib/access/sign-in/credential-store.ts', "import { GetCommand } from '@aws-sdk/lib-dynamodb';", undefined],
  ['lib/access/restore.ts', "import { GetCommand } from '@aws-sdk/lib-dynamodb';", direction.network],
  ['lib/messages/send/chunk-queue.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", undefined],
  ['lib/aws/sqs.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", undefined],
  ['lib/http/fetch-network.ts', "import { request } from 'node:https';", undefined],
  ['lib/http/request-network.ts', "import { request } from 'node:https';", undefined],
  ['lib/webhooks/delivery/post-network.ts', "import { request } from 'node:https';", undefined],
  ['lib/http/fetch.ts', "import { request } from 'node:https';", direction.network],
  ['lib/aws/queue-body.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", direction.network],
  ['lib/aws/queued-message.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", direction.network],

  ['lib/messages/c.ts', "import { templateStore } from '../templates/model/template-store.ts';", direction.rules],
  ['lib/messages/d.ts', "import type { TemplateStore } from '../templates/model/template-store.ts';", undefined],
  [
    'lib/messages/e.ts',
    "import { templateStore, type TemplateStore } from '../templates/model/template-store.ts';",
    direction.rules,
  ],
  ['lib/messages/report/f.ts', "export * from '../sender/backlog-store.ts';", direction.rules],
  ['lib/messages/report/g.ts', "export { messageQueue } from '../accept/message-queue.ts';", direction.rules],
  ['lib/templates/h.ts', "import { documentClient } from '../aws/dynamodb.ts';", direction.rules],
  ['lib/templates/i.ts', "import { queueBody } from '../aws/queue-body.ts';", undefined],
  ['lib/templates/k.ts', "import { queuedMessage } from '../aws/queued-message.ts';", undefined],
  ['lib/templates/j.ts', "import { platformTransport } from '../platform/transport.ts';", direction.rules],
  ['lib/channels/j.ts', "import { readList } from '../platform/list-page.ts';", direction.rules],
  ['lib/channels/k.ts', "import { platformNumbers } from './platform-numbers.ts';", direction.rules],
  ['lib/channels/platform-numbers.ts', "import { readList } from '../platform/list-page.ts';", undefined],
  ['lib/channels/deployed.ts', "import { platformNumbers } from './platform-numbers.ts';", undefined],
  ['lib/channels/l.ts', "import { deployedChannels } from './deployed.ts';", direction.rules],
  ['lib/channels/m.ts', "import { deployedPlatform } from '../platform/deployed.ts';", direction.rules],
  ['lib/templates/rules/a.ts', "import { fetchPublic } from '../../http/fetch-network.ts';", direction.rules],
  ['lib/hints/a.ts', "import { idOf } from '../platform/webhook/envelope.ts';", undefined],
  ['lib/hints/c.ts', "import { personUpdatesOf } from '../platform/webhook/person-updates.ts';", undefined],
  ['lib/messages/request/n.ts', "import { isUserId } from '../../platform/user-id.ts';", undefined],
  ['lib/hints/b.ts', "import { deployedPlatformApps } from '../platform/webhook/deployed.ts';", direction.rules],
  ['lib/platform/webhook/apps.ts', "import { keptFor } from '../../aws/secrets.ts';", direction.rules],
  ['lib/templates/k.ts', "import { PlatformFailure } from '../platform/failure.ts';", undefined],
  ['lib/templates/model/l-store.ts', "import { documentClient } from '../../aws/dynamodb.ts';", undefined],
  ['infra/simulator/a.ts', "import { root } from '../installation.mjs';", border.out],
  ['infra/simulator/src/a.ts', "import type { Json } from '../../../lib/http/json-part.ts';", border.out],
  ['infra/simulator/src/b.ts', "import { isLoopbackName } from '../../loopback.ts';", border.out],
  ['infra/simulator/src/c.ts', "export { a } from '../console/openapi.ts';", undefined],
  ['infra/simulator/src/sending/a.ts', "export * from '../../../loopback.ts';", border.out],
  [
    'infra/simulator/src/sending/b.ts',
    "import codes from '../data/error-codes.json' with { type: 'json' };",
    undefined,
  ],
  ['infra/simulator/src/templates/rules/a.ts', "import { graphError } from '../../errors.ts';", undefined],
  ['infra/simulator/src/templates/rules/b.ts', "await import('../../../../routes.ts');", border.out],
  ['infra/simulator/test/a.ts', "import { api } from '../../../test/support/api.ts';", border.out],
  ['infra/simulator/test/support/a.ts', "import { startSimulator } from '../../src/server.ts';", undefined],
  ['infra/local/d.ts', "import { mediaHost } from '../simulator/src/media/examples.ts';", border.into],
  ['infra/y.ts', "import type { Seed } from './simulator/src/seed.ts';", border.into],
  ['test/lib/a.ts', "import { Bill } from '../../infra/simulator/src/sending/bill.ts';", border.into],
  ['test/lib/b.ts', "import { Bill } from '#simulator/contract';", undefined],

  ['lib/http/a.ts', 'export const f = (text: string) => new RegExp(text);', literal],
  ['lib/http/b.ts', 'export const f = (text: string) => RegExp(text);', literal],
  ['functions/e.ts', 'export const f = (text: string, part: string) => text.match(part);', literal],
  ['lib/http/c.ts', 'export const f = (text: string, part: string) => text.search(part);', literal],
  ['lib/http/d.ts', 'export const f = (text: string, part: string) => text.matchAll(part);', literal],
  ['lib/http/e.ts', 'export const f = (text: string) => text.match(/a(?:b)/gu);', undefined],
  ['lib/http/f.ts', 'export const f = (text: string, part: string) => text.includes(part);', undefined],
];

const directory = mkdtempSync(join(tmpdir(), 'lint-'));
let diagnostics: readonly { readonly message: string; readonly location: { readonly path: string } }[];

beforeAll(() => {
  const { plugins } = JSON.parse(readFileSync(join(root, '.biome.json'), 'utf8')) as {
    plugins: { path: string; includes: string[] }[];
  };
  const configuration = {
    plugins: plugins.map(({ path, includes }) => ({ path: join(root, path), includes })),
    linter: { rules: { preset: 'none' } },
  };
  writeFileSync(join(directory, 'biome.json'), JSON.stringify(configuration));
  for (const [file, code] of cases) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), `// First a comment.\n${code}\n`);
  }
  const biome = join(root, 'node_modules', '.bin', 'biome');
  const { stdout } = spawnSync(biome, ['lint', '--reporter=json', '--max-diagnostics=none', '.'], {
    cwd: directory,
    encoding: 'utf8',
  });
  ({ diagnostics } = JSON.parse(stdout));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

it('orders every part of messages', () => {
  const parts = readdirSync('lib/messages', { withFileTypes: true }).filter((part) => part.isDirectory());
  expect([...layers.messages].sort()).toEqual(parts.map(({ name }) => name).sort());
});

it.each(cases)('%s: %s', (file, _, refusal) => {
  const messages = diagnostics.filter(({ location }) => location.path === file).map(({ message }) => message);
  expect(messages).toEqual(refusal === undefined ? [] : [refusal]);
});
