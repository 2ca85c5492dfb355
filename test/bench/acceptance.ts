import { createHash, randomUUID } from 'node:crypto';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { queuePurposes, resourceName } from '../../infra/names.ts';
import { sendersOf } from '../../lib/messages/sender/number-parts.ts';
import { makeHttpEvent } from '../support/http-event.ts';
import { type CountingProxy, startCountingProxy } from './counting-proxy.ts';
import { median, report } from './figure.ts';
import { type FunctionProcess, startFunction } from './function-process.ts';

const recipientCount = 10_000;
/** Each sender of the demo's number has a wake. */
const limitPerSecond = 1_000;
const bytesPerMb = 1_048_576;

interface Body {
  readonly name: string;
  /** Each recipient gets so many characters of text that cannot be compressed. */
  readonly noise: number;
  readonly dynamodbLimit: number;
}

/**
 * The bodies grow from names and order numbers to 6 MB of random text, which is Lambda's limit. The limits include the
 * first lease of the client's budget (D54), the first of them reading and storing the template, too.
 */
const bodies: readonly Body[] = [
  { name: 'everyday', noise: 0, dynamodbLimit: 14 },
  { name: 'long_texts', noise: 150, dynamodbLimit: 15 },
  { name: 'largest', noise: 450, dynamodbLimit: 17 },
];

/**
 * Measures requests and memory while 10,000 recipients are accepted, by the built bundle in a process of its own.
 * Proxies before the tables and queues count the requests.
 */
export async function benchAcceptance(stack: RunningStack): Promise<void> {
  const dynamodb = await startCountingProxy(stack.addresses.dynamodbEndpoint);
  const sqs = await startCountingProxy(stack.addresses.sqsEndpoint);
  try {
    for (const body of bodies) await benchBody(stack, body, { dynamodb, sqs });
    await benchProcessor(stack, { dynamodb, sqs });
  } finally {
    dynamodb.stop();
    sqs.stop();
  }
}

interface Proxies {
  readonly dynamodb: CountingProxy;
  readonly sqs: CountingProxy;
}

async function benchBody(stack: RunningStack, { name, noise, dynamodbLimit }: Body, proxies: Proxies): Promise<void> {
  const { dynamodb, sqs } = proxies;
  const body = bodyText(noise);
  const figure = (what: string) => `accept.${name}.${what}`;
  const acceptor = startAcceptor(stack, proxies);
  try {
    report({ figure: figure('body'), value: Buffer.byteLength(body) / bytesPerMb, unit: 'MB' });
    const { peakBytes: firstPeakBytes } = await acceptor.invoke(sendEvent(body));
    report({ figure: figure('sqs_requests'), value: sqs.taken(), unit: 'requests', limit: sendersOf(limitPerSecond) });
    report({ figure: figure('dynamodb_requests'), value: dynamodb.taken(), limit: dynamodbLimit, unit: 'requests' });
    report({ figure: figure('peak_memory'), value: firstPeakBytes / bytesPerMb, limit: 256, unit: 'MB' });
    // V8 collects garbage when it likes, up to the configured memory of the function, so a second use has no limit.
    const again = await acceptor.invoke(sendEvent(body, { 'idempotency-key': randomUUID() }));
    sqs.taken();
    report({ figure: figure('dynamodb_requests_with_key'), value: dynamodb.taken(), unit: 'requests' });
    report({ figure: figure('peak_memory_used_again'), value: again.peakBytes / bytesPerMb, unit: 'MB' });
  } finally {
    acceptor.stop();
  }
}

const warmUps = 5;
const rounds = 21;
const bareProgram = new URL('bare-acceptance.ts', import.meta.url).pathname;

/**
 * Compares processor times with those of bare handlers, in turns: all are warm. One has the SDK's clients as they come,
 * one has ours, which a send of one needs twice as often.
 */
async function benchProcessor(stack: RunningStack, proxies: Proxies): Promise<void> {
  const acceptor = startAcceptor(stack, proxies);
  const bare = startAcceptor(stack, proxies, { program: bareProgram });
  const bareOfOurs = startAcceptor(stack, proxies, { program: bareProgram, clientsOfBareHandler: 'ours' });
  try {
    // Once a minute the number's limit is read as well.
    for (const [recipients, limit, most] of [[recipientCount, 3, 6] as const, [1, 2.3, 4] as const]) {
      const event = sendEvent(bodyText(0, recipients));
      const ratios: number[] = [];
      const ratiosOfOurs: number[] = [];
      let requests = 0;
      for (let round = 0; round < warmUps + rounds; round += 1) {
        proxies.dynamodb.taken();
        const { processorMs } = await acceptor.invoke(event);
        requests = proxies.dynamodb.taken();
        const ratio = processorMs / (await bare.invoke(event)).processorMs;
        const ratioOfOurs = processorMs / (await bareOfOurs.invoke(event)).processorMs;
        if (round < warmUps) continue;
        ratios.push(ratio);
        ratiosOfOurs.push(ratioOfOurs);
      }
      const figure = `accept.processor_time_of_${recipients}_to_a_bare_handler`;
      report({ figure, value: median(ratios), limit, unit: recipients === 1 ? 'ratio, aimed at 2' : 'ratio' });
      report({ figure: `${figure}_with_our_clients`, value: median(ratiosOfOurs), unit: 'ratio' });
      const asked = `accept.dynamodb_requests_of_${recipients}`;
      report({ figure: asked, value: requests, limit: most, unit: 'requests' });
    }
  } finally {
    for (const each of [acceptor, bare, bareOfOurs]) each.stop();
  }
}

export function bodyText(noise: number, count = recipientCount): string {
  const recipients = audience(count, 0).map(({ to, params }, index) => ({
    to,
    params: { ...params, body: [params.body[0], `${params.body[1]}${incompressible(index, noise)}`] },
  }));
  return JSON.stringify({ did: demoDid, type: 'template', channel: 'MESSAGING', template: orderUpdate, recipients });
}

/** Returns text of six random bits a character, the same on every run. */
function incompressible(seed: number, length: number): string {
  return createHash('shake256', { outputLength: length }).update(String(seed)).digest('base64url').slice(0, length);
}

/** Starts the built function in front of the proxies, or another program in its place. */
export function startAcceptor(
  stack: RunningStack,
  { dynamodb, sqs }: Readonly<Record<'dynamodb' | 'sqs', { readonly endpoint: string }>>,
  { program, clientsOfBareHandler }: { readonly program?: string; readonly clientsOfBareHandler?: 'ours' } = {},
): FunctionProcess {
  const { addresses } = stack;
  const queueUrl = (purpose: keyof typeof queuePurposes) =>
    addresses.queueUrls[resourceName(addresses.stage, queuePurposes[purpose])]?.replace(
      addresses.sqsEndpoint,
      sqs.endpoint,
    );
  return startFunction(stack, 'messages-send', {
    addresses: { dynamodbEndpoint: dynamodb.endpoint, sqsEndpoint: sqs.endpoint },
    variables: {
      DISPATCH_QUEUE_URL: queueUrl('dispatch'),
      URGENT_QUEUE_URL: queueUrl('urgent'),
      CLIENTS_OF_BARE_HANDLER: clientsOfBareHandler,
    },
    program,
  });
}

export function sendEvent(body: string, headers: Readonly<Record<string, string>> = {}) {
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
