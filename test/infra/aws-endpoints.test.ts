import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { GetQueueUrlCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { callersAccount, callersArn } from '../../infra/operate/account.ts';
import { accountConcurrency, quotasOf } from '../../infra/operate/stage/account-limits.ts';
import { alarmsOf, distributionOf, topicsOf } from '../../infra/operate/stage/doctor-aws.ts';
import { signedReader } from '../../infra/operate/stage/signed-read.ts';
import { statusOf } from '../../infra/operate/stage/stack-status.ts';
import { awsTarget, openQueue } from '../../infra/operate/target.ts';
import { documentClient } from '../../lib/aws/dynamodb.ts';
import { secretReader } from '../../lib/aws/secrets.ts';
import { queueClient } from '../../lib/aws/sqs.ts';
import { type SignedRequest, signedScope } from '../support/signature-v4.ts';

/*
 * Each AWS client of ours calls the endpoint in AWS_ENDPOINT_URL or its per-service form, with a valid signature for
 * its service and region. The tests have no network to AWS, so any other endpoint fails its case.
 */

const secretAccessKey = 'sesame';
const topic = 'arn:aws:sns:eu-west-1:123456789012:alarms';
const none = async () => undefined;

/**
 * Each service, by its signing name, has its endpoint variable and the calls of all our clients of it. The servers
 * answer with empty results.
 */
const services: Readonly<
  Record<string, { readonly variable: string; readonly ask: readonly (() => Promise<unknown>)[] }>
> = {
  dynamodb: {
    variable: 'AWS_ENDPOINT_URL_DYNAMODB',
    ask: [
      () => documentClient().send(new GetCommand({ TableName: 'things', Key: { pk: 'a' } })),
      () => awsTarget('prod').documentClient.send(new GetCommand({ TableName: 'things', Key: { pk: 'a' } })),
    ],
  },
  sqs: {
    variable: 'AWS_ENDPOINT_URL_SQS',
    ask: [
      () => queueClient().send(new GetQueueUrlCommand({ QueueName: 'dispatches' })),
      // A queue's URL names another host, as on AWS.
      () =>
        queueClient().send(new SendMessageCommand({ QueueUrl: 'https://sqs.invalid/1/dispatches', MessageBody: 'a' })),
      () => openQueue('prod', 'events'),
    ],
  },
  secretsmanager: {
    variable: 'AWS_ENDPOINT_URL_SECRETS_MANAGER',
    ask: [() => secretReader(none)('keys'), () => awsTarget('prod').secrets.read('keys')],
  },
  sts: { variable: 'AWS_ENDPOINT_URL_STS', ask: [() => callersAccount(), () => callersArn()] },
  cloudformation: {
    variable: 'AWS_ENDPOINT_URL_CLOUDFORMATION',
    ask: [() => statusOf('prod', 'stateless'), () => statusOf('prod', 'edge'), () => distributionOf('prod')],
  },
  monitoring: { variable: 'AWS_ENDPOINT_URL_CLOUDWATCH', ask: [() => alarmsOf('prod', 'stateless')] },
  sns: {
    variable: 'AWS_ENDPOINT_URL_SNS',
    ask: [() => topicsOf([{ name: 'a', actionsEnabled: true, actions: [topic] }])],
  },
  cloudfront: { variable: 'AWS_ENDPOINT_URL_CLOUDFRONT', ask: [() => distributionOf('prod')] },
  lambda: { variable: 'AWS_ENDPOINT_URL_LAMBDA', ask: [() => accountConcurrency(signedReader())] },
  servicequotas: {
    variable: 'AWS_ENDPOINT_URL_SERVICE_QUOTAS',
    ask: [() => quotasOf(signedReader(), 'sqs')],
  },
};

interface Asked {
  /** It is undefined when the signature is wrong. */
  readonly service: string | undefined;
  readonly path: string;
}

/** The server refuses unsigned requests, and answers others with the least that our clients read. */
class SignedServer {
  readonly asked: Asked[] = [];
  endpoint = '';
  readonly #server: Server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const signed: SignedRequest = { method, path, headers, body: await text(request) };
    const service = signedScope(signed, secretAccessKey)?.scope.split('/')[2];
    this.asked.push({ service, path });
    if (service === undefined) return response.writeHead(403).end('{"__type":"InvalidSignatureException"}');
    const answer = answers[service]?.(signed) ?? '';
    response.setHeader('content-type', answer.startsWith('<') ? 'text/xml' : 'application/json');
    return response.end(answer);
  });

  async open(): Promise<void> {
    await new Promise<void>((opened) => this.#server.listen(0, '127.0.0.1', opened));
    this.endpoint = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const xml = (action: string, result: string) =>
  `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`;
const member = (type: string, id: string) =>
  `<member><ResourceType>${type}</ResourceType><PhysicalResourceId>${id}</PhysicalResourceId></member>`;
/** `of` describes a stack, so that clients which look further continue. */
const queryAnswer = ({ body }: SignedRequest) => {
  const action = new URLSearchParams(body).get('Action') ?? '';
  return xml(
    action,
    action === 'ListStackResources'
      ? `<StackResourceSummaries>${member('AWS::CloudWatch::Alarm', 'a')}${member('AWS::CloudFront::Distribution', 'E1')}</StackResourceSummaries>`
      : '<Account>123456789012</Account>',
  );
};
const answers: Readonly<Record<string, (request: SignedRequest) => string>> = {
  dynamodb: () => '{}',
  sqs: () => '{"QueueUrl":"https://sqs.invalid/1/dispatches"}',
  secretsmanager: () => '{"SecretString":"the text"}',
  sts: queryAnswer,
  cloudformation: queryAnswer,
  monitoring: () => '{"MetricAlarms":[]}',
  sns: queryAnswer,
  cloudfront: () => '<Distribution><Id>E1</Id></Distribution>',
  lambda: () => '{"AccountLimit":{"ConcurrentExecutions":1000,"UnreservedConcurrentExecutions":900}}',
  servicequotas: () => '{"Quotas":[]}',
};

const [all, own] = [new SignedServer(), new SignedServer()];
beforeAll(async () => {
  await Promise.all([all.open(), own.open()]);
});
afterAll(() => {
  for (const server of [all, own]) server.close();
});

beforeEach(() => {
  for (const { asked } of [all, own]) asked.length = 0;
  for (const { variable } of Object.values(services)) vi.stubEnv(variable, undefined);
  vi.stubEnv('AWS_ENDPOINT_URL', all.endpoint);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_PROFILE', undefined);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIA1');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', 'session/+=1');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** The client makes its request; the test ignores an error about the minimal answer. */
async function asks(ask: () => Promise<unknown>): Promise<void> {
  await ask().catch(() => undefined);
}

const cases = Object.entries(services).flatMap(([service, { variable, ask }]) =>
  ask.map((each, at) => [`${service} ${at + 1}`, { service, variable, ask: each }] as const),
);

describe.each(cases)('%s', (_name, { service, variable, ask }) => {
  test('asks at AWS_ENDPOINT_URL, signed', async () => {
    await asks(ask);
    expect(all.asked.map((each) => each.service)).toContain(service);
    expect(all.asked.filter((each) => each.service === undefined)).toEqual([]);
  });

  test('asks at the endpoint of its service before that of all, below its path', async () => {
    vi.stubEnv(variable, `${own.endpoint}/base`);
    await asks(ask);
    expect(own.asked.length).toBeGreaterThan(0);
    expect(own.asked.filter((each) => each.service !== service || !each.path.startsWith('/base/'))).toEqual([]);
    expect(all.asked.map((each) => each.service)).not.toContain(service);
  });

  test('asks at neither where configured endpoints are to be ignored', async () => {
    vi.stubEnv(variable, own.endpoint);
    vi.stubEnv('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS', 'true');
    // AWS has no hostname in this region.
    vi.stubEnv('AWS_REGION', 'nowhere.invalid');
    vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
    await asks(ask);
    expect([...own.asked, ...all.asked]).toEqual([]);
  });
});

test('every SDK client of the project is one of these', () => {
  const root = resolve(import.meta.dirname, '../..');
  const packages = ['lib', 'functions', 'infra/operate']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(root, folder, name)),
    )
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/new (\w+)Client\(/g)].map(([, name = '']) => name));
  const variableOf = (name: string) =>
    `AWS_ENDPOINT_URL_${name === 'SecretsManager' ? 'SECRETS_MANAGER' : name.toUpperCase()}`;
  const known = Object.values(services).map(({ variable }) => variable);
  expect(new Set(packages.map(variableOf).filter((variable) => !known.includes(variable)))).toEqual(new Set());
  expect(packages.length).toBeGreaterThan(5);
});
