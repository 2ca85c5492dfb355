import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..', '..');

const direction = {
  tests: 'Nothing imports functions or tests, except tests.',
  infra: 'Functions and lib know nothing of infra.',
  functions: 'A function imports from lib, never from another function.',
  pages: 'A page is built by clientEndpoint; only health, login and redirect are public.',
  types: 'infra imports only types from lib; infra/local and infra/operate may import more.',
  network:
    'Only stores, queues, lib/aws, lib/platform, lib/http/public-*.ts and post-public.ts touch an SDK or the network.',
  rules: 'Rules import nothing but rules: take the adapter as an argument.',
};
const literal = 'A regular expression must be a literal.';

/** One line of code in a file, and what our own rules say about it; undefined when nothing. */
const cases: readonly (readonly [file: string, code: string, refusal: string | undefined])[] = [
  ['lib/templates/a.ts', "import { handler } from '../../functions/login.ts';", direction.tests],
  ['lib/templates/b.ts', "import type { Endpoint } from '../../functions/login.ts';", direction.tests],
  ['infra/a.ts', "import { handler } from '../functions/login.ts';", direction.tests],
  ['infra/local/a.ts', "import { free } from '../../test/support/calls.ts';", direction.tests],
  ['infra/b.ts', "import { functions } from './functions.ts';", undefined],
  ['test/unit/functions/a.ts', "import { login } from '../../../functions/login.ts';", undefined],

  ['lib/access/a.ts', "import { tables } from '../../infra/tables.ts';", direction.infra],
  ['functions/a.ts', "import type { TableName } from '../infra/tables.ts';", direction.infra],
  ['functions/b.ts', "import { login } from './login.ts';", direction.functions],
  ['functions/c.ts', "import { signIn } from '../lib/access/sign-in.ts';", undefined],

  ['functions/p.ts', "import { endpoint } from '../lib/http/endpoint.ts';", direction.pages],
  ['functions/q.ts', "import { type Endpoint, endpoint } from '../lib/http/endpoint.ts';", direction.pages],
  ['functions/r.ts', "import type { Endpoint } from '../lib/http/endpoint.ts';", undefined],
  ['functions/s.ts', "import { publicEndpoint } from '../lib/http/public-endpoint.ts';", direction.pages],
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
  ['lib/access/credential-store.ts', "import { GetCommand } from '@aws-sdk/lib-dynamodb';", undefined],
  ['lib/access/restore.ts', "import { GetCommand } from '@aws-sdk/lib-dynamodb';", direction.network],
  ['lib/messages/queue.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", undefined],
  ['lib/aws/sqs.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", undefined],
  ['lib/http/public-fetch.ts', "import { request } from 'node:https';", undefined],
  ['lib/http/public-request.ts', "import { request } from 'node:https';", undefined],
  ['lib/webhooks/post-public.ts', "import { request } from 'node:https';", undefined],
  ['lib/http/fetch.ts', "import { request } from 'node:https';", direction.network],
  ['lib/aws/queue-body.ts', "import { SQSClient } from '@aws-sdk/client-sqs';", direction.network],

  ['lib/templates/c.ts', "import { templateStore } from './store.ts';", direction.rules],
  ['lib/templates/d.ts', "import type { TemplateStore } from './store.ts';", undefined],
  ['lib/templates/e.ts', "import { templateStore, type TemplateStore } from './store.ts';", direction.rules],
  ['lib/templates/f.ts', "export * from '../messages/job-store.ts';", direction.rules],
  ['lib/templates/g.ts', "export { jobQueue } from '../messages/job-queue.ts';", direction.rules],
  ['lib/templates/h.ts', "import { documentClient } from '../aws/dynamodb.ts';", direction.rules],
  ['lib/templates/i.ts', "import { queueBody } from '../aws/queue-body.ts';", undefined],
  ['lib/templates/j.ts', "import { platformTransport } from '../platform/transport.ts';", direction.rules],
  ['lib/templates/rules/a.ts', "import { fetchPublic } from '../../http/public-fetch.ts';", direction.rules],
  ['lib/templates/k.ts', "import { PlatformFailure } from '../platform/failure.ts';", undefined],
  ['lib/templates/l-store.ts', "import { documentClient } from '../aws/dynamodb.ts';", undefined],

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
  const { plugins } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as {
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

it.each(cases)('%s: %s', (file, _, refusal) => {
  const messages = diagnostics.filter(({ location }) => location.path === file).map(({ message }) => message);
  expect(messages).toEqual(refusal === undefined ? [] : [refusal]);
});
