import { fork } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import * as v from 'valibot';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import { functionEnvironment, type RunningStack } from '../../infra/local/stack.ts';
import { makeHttpEvent } from '../support/http-event.ts';
import { bundleOf } from './bundles.ts';
import { type CountingProxy, startCountingProxy } from './counting-proxy.ts';
import { report } from './figure.ts';

const recipientCount = 10_000;
const bytesPerMb = 1_048_576;
const accepting = new URL('accepting-function.mjs', import.meta.url).pathname;

interface Body {
  readonly name: string;
  /** Characters of text that cannot be compressed, for each recipient. */
  readonly noise: number;
  readonly sqsLimit?: number;
}

/**
 * The everyday body has names and order numbers. The second carries as much random text as makes it need exactly two
 * queue messages; the last is as large as Lambda lets through (6 MB) and as random: SQS takes 1 MiB a request, so that
 * one needs more than two, and its number has no limit here.
 */
const bodies: readonly Body[] = [
  { name: 'everyday', noise: 0, sqsLimit: 1 },
  { name: 'two_parts', noise: 150, sqsLimit: 2 },
  { name: 'largest', noise: 450 },
];

/**
 * Requests and memory while 10,000 recipients are accepted: by the built bundle in a process of its own, in front of the
 * stack's tables and queues, counted on the wire.
 */
export async function benchAcceptance(stack: RunningStack): Promise<void> {
  const dynamodb = await startCountingProxy(stack.addresses.dynamodbEndpoint);
  const sqs = await startCountingProxy(stack.addresses.sqsEndpoint);
  try {
    for (const body of bodies) await benchBody(stack, body, { dynamodb, sqs });
  } finally {
    dynamodb.stop();
    sqs.stop();
  }
}

interface Proxies {
  readonly dynamodb: CountingProxy;
  readonly sqs: CountingProxy;
}

async function benchBody(stack: RunningStack, { name, noise, sqsLimit }: Body, proxies: Proxies): Promise<void> {
  const { dynamodb, sqs } = proxies;
  const body = bodyText(noise);
  const figure = (what: string) => `accept.${name}.${what}`;
  const acceptor = startFunction(stack, proxies);
  try {
    report({ figure: figure('body'), value: Buffer.byteLength(body) / bytesPerMb, unit: 'MB' });
    const firstPeakBytes = await acceptor.accept(sendEvent(body));
    const limit = sqsLimit === undefined ? {} : { limit: sqsLimit };
    report({ figure: figure('sqs_requests'), value: sqs.taken(), unit: 'requests', ...limit });
    report({ figure: figure('dynamodb_requests'), value: dynamodb.taken(), limit: 3, unit: 'requests' });
    report({ figure: figure('peak_memory'), value: firstPeakBytes / bytesPerMb, limit: 256, unit: 'MB' });
    // The process is used again and V8 collects when it likes, up to the function's configured memory: no limit here.
    const secondPeakBytes = await acceptor.accept(sendEvent(body, { 'idempotency-key': randomUUID() }));
    sqs.taken();
    report({ figure: figure('dynamodb_requests_with_key'), value: dynamodb.taken(), unit: 'requests' });
    report({ figure: figure('peak_memory_used_again'), value: secondPeakBytes / bytesPerMb, unit: 'MB' });
  } finally {
    acceptor.stop();
  }
}

function bodyText(noise: number): string {
  const recipients = audience(recipientCount, 0).map(({ to, params }, index) => ({
    to,
    params: { ...params, body: [params.body[0], `${params.body[1]}${incompressible(index, noise)}`] },
  }));
  return JSON.stringify({ did: demoDid, type: 'template', channel: 'MESSAGING', template: orderUpdate, recipients });
}

/** Text of six random bits a character, the same on every run. */
function incompressible(seed: number, length: number): string {
  return createHash('shake256', { outputLength: length }).update(String(seed)).digest('base64url').slice(0, length);
}

const ReplySchema = v.object({
  answer: v.object({ statusCode: v.literal(200) }),
  peakBytes: v.number(),
});

/** The built function in a process of its own, in front of the proxies. */
function startFunction({ addresses, template }: RunningStack, { dynamodb, sqs }: Proxies) {
  const definition = Object.values(template.functions).find(({ name }) => name.endsWith('messages-send'));
  if (definition === undefined) throw new Error('the template has no function messages-send');
  const { environment, memoryMb } = definition;
  const child = fork(accepting, [bundleOf('messages-send')], {
    env: {
      ...functionEnvironment({ ...addresses, dynamodbEndpoint: dynamodb.endpoint, sqsEndpoint: sqs.endpoint }),
      ...environment,
      SEND_JOB_QUEUE_URL: environment['SEND_JOB_QUEUE_URL']?.replace(addresses.sqsEndpoint, sqs.endpoint),
    },
    execArgv: [`--max-old-space-size=${memoryMb}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  return {
    /** Returns the peak memory of the process so far, in bytes. */
    accept: async (event: unknown): Promise<number> => {
      child.send(event as object);
      const ended = once(child, 'exit').then(() => Promise.reject(new Error('the function ended')));
      const [reply] = await Promise.race([once(child, 'message'), ended]);
      return v.parse(ReplySchema, reply).peakBytes;
    },
    stop: () => child.kill('SIGKILL'),
  };
}

function sendEvent(body: string, headers: Readonly<Record<string, string>> = {}) {
  return makeHttpEvent({
    routeKey: 'POST /v1/template/messages/{did}',
    pathParameters: { did: demoDid },
    headers: { 'content-type': 'application/json', ...headers },
    body,
    token: {
      userId: 'bench',
      clientId: 1001,
      permissions: [],
      expiresAtSeconds: Math.ceil(Date.now() / 1_000) + 3_600,
    },
  });
}
