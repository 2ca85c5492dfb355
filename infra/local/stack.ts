import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { present } from '../../lib/keys/present.ts';
import { subscriptionLines } from '../../lib/provisioning/subscription-lines.ts';
import { resourceName } from '../names.ts';
import type { LocalStack } from '../operate/local-stacks.ts';
import { provisionFile } from '../operate/provision.ts';
import { localPlatform, localTarget } from '../operate/target.ts';
import { startDynamoDb } from './dynamodb.ts';
import { freePort, runningEmulator, startSqsEmulator } from './emulators.ts';
import { type GatewayOptions, startGateway } from './gateway.ts';
import { holdPort } from './held-port.ts';
import { debuggedTimeoutMs, type FunctionLogLine } from './instance.ts';
import { dispatchingInstances, instanceLimitsOf } from './instance-limits.ts';
import { localRegion } from './intrinsics.ts';
import { Parts } from './parts.ts';
import { subscribeCallback } from './platform-callback.ts';
import { type Poller, startPoller } from './poller.ts';
import { type DynamoDbChoice, Obstacle } from './preflight.ts';
import { runScript, startSimulatorProcess } from './processes.ts';
import { createQueues, queueUrlAt } from './queues.ts';
import { createRunner, type ProcessRunner } from './runner.ts';
import { startSecretStore } from './secret-store.ts';
import { createTables } from './tables.ts';
import { type LocalTemplate, readLocalTemplate } from './template.ts';
import { trustedReceiver } from './webhook-receiver.ts';

export interface StackOptions {
  /** 0 takes any free port, for the API and for the simulator. */
  readonly apiPort: number;
  readonly platformPort: number;
  /** Where the synthesized template goes; removed when the stack ends. Two stacks at a time need two. */
  readonly outputDirectory: string;
  /** The functions were built a moment ago: what stands in dist is taken as it is. */
  readonly built?: boolean;
  readonly dynamodb: DynamoDbChoice;
  /** A server that runs already, used instead of one of our own. */
  readonly sqsEndpoint?: string | undefined;
  /** Every line that a function writes. */
  readonly onLog?: (line: FunctionLogLine) => void;
  /** Every request that was answered. */
  readonly onAnswer?: GatewayOptions['onAnswer'];
  /** Stack traces of functions name the lines of the sources. */
  readonly sourceMaps?: boolean;
  /** A function, by the stem of its file, that waits for a debugger on the port; its time-outs are suspended. */
  readonly inspected?: { readonly name: string; readonly port: number } | undefined;
  /** The functions take only requests that show one of these, apart by spaces, as those of an edge do. */
  readonly edgeKeys?: string;
  /** Sentences about the stack itself, such as a failed batch that will come again. */
  readonly report?: (line: string) => void;
  /** Ends the start-up: everything begun so far is ended, then `startStack` rejects. */
  readonly signal?: AbortSignal;
}

export interface RunningStack {
  readonly addresses: Omit<LocalStack, 'pid'>;
  /** Why the platform simulator sends no webhooks to the API; undefined when it does. */
  readonly withoutWebhooks: string | undefined;
  readonly template: LocalTemplate;
  readonly runner: ProcessRunner;
  readonly poller: Poller;
  /** Resolves when a process the stack needs has ended by itself. */
  readonly broken: Promise<Error>;
  /** Ends everything that was started, within three seconds. */
  stop(): Promise<void>;
}

const stage = 'local';
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
const demoData = join(import.meta.dirname, 'demo', 'provisioning.json');

/**
 * Boots the whole service from its synthesized template: builds and synthesizes, starts the servers beside it, creates
 * tables, queues and secrets, loads the demo data, opens the gateway and feeds the queues. When anything fails on the way,
 * what has been started is ended first.
 */
export async function startStack(options: StackOptions): Promise<RunningStack> {
  const parts = new Parts();
  const broken = Promise.withResolvers<Error>();
  // Ctrl-C in a terminal ends the children together with us: give the signal a moment to arrive here as well.
  const onExit = (how: string) => setTimeout(() => parts.ending || broken.resolve(new Error(how)), 100);
  const assembling = assemble(options, { parts, broken: broken.promise, onExit });
  try {
    const failed = broken.promise.then((error) => Promise.reject(error));
    return await Promise.race([assembling, failed, rejectionOf(options.signal)]);
  } catch (error) {
    assembling.catch(() => undefined);
    await parts.end();
    throw error;
  }
}

function rejectionOf(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

interface Assembly {
  readonly parts: Parts;
  readonly broken: Promise<Error>;
  readonly onExit: (how: string) => void;
}

/** Where everything is but the API, which opens last. */
type ServerAddresses = Omit<LocalStack, 'pid' | 'apiUrl'>;

async function assemble(options: StackOptions, assembly: Assembly): Promise<RunningStack> {
  const { parts, broken } = assembly;
  // Templates name the address of redirects, which is the API's own: it has to be known before the API opens.
  const apiPort = await parts.start('servers', () => holdPort(options.apiPort));
  const redirectBaseUrl = `http://127.0.0.1:${apiPort.number}/r`;
  const { template, addresses, queueUrl } = await startServers({ ...options, redirectBaseUrl }, assembly);
  const sqsClient = await prepareStores(parts, template, { ...addresses, report: options.report ?? ignore });
  const { inspected, onAnswer, sourceMaps } = options;
  const maximumInstances = instanceLimitsOf(template.functions, stage);
  const runner = createRunner({
    functions: template.functions,
    maximumInstances,
    environment: {
      ...functionEnvironment(addresses),
      ...receiverEnvironment(addresses),
      ...present({ EDGE_KEYS: options.edgeKeys }),
    },
    sourceMaps,
    inspected: inspected && { functionId: functionIdOf(template, inspected.name), port: inspected.port },
    ...present({ onLog: options.onLog }),
  });
  await parts.start('functions', async () => runner);
  await apiPort.stop();
  const gateway = await parts.start('intake', () =>
    startGateway({
      template,
      invoke: runner.invoke,
      region: localRegion,
      port: apiPort.number,
      ...present({ onAnswer }),
      ...(inspected === undefined ? {} : patience),
    }),
  );
  const { poller } = await parts.start('intake', async () => {
    const { eventSources } = template;
    const feeding = startPoller({
      client: sqsClient,
      eventSources,
      queueUrl,
      runner,
      maximumInstances,
      report: options.report ?? ignore,
    });
    // In-flight batches get a moment to finish; what does not comes again, as it does after any crash.
    return { poller: feeding, stop: () => feeding.stop(700) };
  });
  const withoutWebhooks = await subscribeCallback(addresses.platformUrl, gateway.url);
  return {
    addresses: { apiUrl: gateway.url, ...addresses },
    withoutWebhooks,
    template,
    runner,
    poller,
    broken,
    stop: () => parts.end(),
  };
}

/** Nobody is in a hurry while a debugger has halted a function. */
const patience = { integrationTimeoutMs: debuggedTimeoutMs, authorizerTimeoutMs: debuggedTimeoutMs };

function functionIdOf({ functions }: LocalTemplate, name: string): string {
  const [id] = Object.entries(functions).find(([, definition]) => definition.name === resourceName(stage, name)) ?? [];
  if (id === undefined) throw new Obstacle(`The local stack has no function ${name}: only other deployments do.`);
  return id;
}

interface Addressed {
  readonly redirectBaseUrl: string;
}

/** Starts what the functions talk to; builds and synthesizes meanwhile. */
async function startServers(options: StackOptions & Addressed, { parts, onExit }: Assembly) {
  const { outputDirectory, redirectBaseUrl, dynamodb: chosen, sqsEndpoint: givenSqs } = options;
  const platformPort = options.platformPort === 0 ? await freePort() : options.platformPort;
  const [dynamodb, sqs, platform] = await Promise.all([
    parts.start('servers', async (signal) =>
      'endpoint' in chosen
        ? runningEmulator(chosen.endpoint)
        : startDynamoDb(chosen.engine, { signal, onExit, dataFolder: chosen.dataFolder }),
    ),
    parts.start('servers', async () => (givenSqs === undefined ? startSqsEmulator() : runningEmulator(givenSqs))),
    parts.start('servers', (signal) => startSimulatorProcess(platformPort, { signal, onExit })),
    synthesize(parts, options, { platformBaseUrl: `http://127.0.0.1:${platformPort}`, redirectBaseUrl }),
  ]);
  const queueUrl = queueUrlAt(sqs.endpoint);
  const template = readLocalTemplate({ cdkOutDirectory: outputDirectory, queueUrl });
  const secrets = await parts.start('servers', () => startSecretStore(template.secrets));
  const addresses: ServerAddresses = {
    platformUrl: platform.endpoint,
    dynamodbEndpoint: dynamodb.endpoint,
    sqsEndpoint: sqs.endpoint,
    secretsEndpoint: secrets.endpoint,
    region: localRegion,
    stage,
    queueUrls: Object.fromEntries(template.queues.map(({ name }) => [name, queueUrl(name)])),
    webhookReceiverPort: await freePort(),
  };
  return { template, addresses, queueUrl };
}

async function synthesize(
  parts: Parts,
  { outputDirectory, inspected, built = false }: StackOptions,
  addresses: Addressed & { readonly platformBaseUrl: string },
): Promise<void> {
  const removal = { stop: () => rm(outputDirectory, { recursive: true, force: true }) };
  await parts.start('servers', async () => removal);
  const readable = inspected === undefined ? [] : ['--readable'];
  if (!built) await parts.run((signal) => runScript('infra/build.ts', { arguments: readable, signal }));
  const environment = {
    CDK_OUTDIR: outputDirectory,
    CDK_CONTEXT_JSON: JSON.stringify({
      stage,
      dispatchMaximumConcurrency: dispatchingInstances,
      // Counted as where it is deployed, and in nobody's way.
      clientRatePerMinute: 100_000,
      ...addresses,
    }),
    // The rules of CloudFormation take most of the time, and are for what is deployed.
    CDK_VALIDATION: 'false',
  };
  await parts.run((signal) => runScript('infra/app.ts', { environment, signal }));
}

/** Creates tables and queues and loads the demo data; returns the queue client, which the poller keeps using. */
async function prepareStores(
  parts: Parts,
  template: LocalTemplate,
  { report, ...addresses }: ServerAddresses & { readonly report: (line: string) => void },
): Promise<SQSClient> {
  const client = { region: localRegion, credentials };
  const dynamodbClient = new DynamoDBClient({ ...client, endpoint: addresses.dynamodbEndpoint });
  const sqsClient = new SQSClient({ ...client, endpoint: addresses.sqsEndpoint });
  await parts.start('functions', async () => ({ stop: async () => sqsClient.destroy() }));
  const queueUrl = queueUrlAt(addresses.sqsEndpoint);
  await Promise.all([
    createTables(dynamodbClient, template.tables),
    createQueues({ client: sqsClient, queues: template.queues, queueUrl }),
  ]);
  dynamodbClient.destroy();
  // A server that keeps its data may hold other clients: their platform tokens ended with the stack before.
  const { subscriptions } = await provisionFile(demoData, localTarget(addresses), {
    removalsAllowed: Number.POSITIVE_INFINITY,
    platform: localPlatform(addresses),
  });
  for (const line of subscriptionLines(subscriptions)) report(line);
  return sqsClient;
}

function ignore(): void {}

/** What Lambda gives every function, and where the services it uses are found on this machine. */
export function functionEnvironment(addresses: ServerAddresses): Record<string, string> {
  return {
    AWS_REGION: addresses.region,
    AWS_DEFAULT_REGION: addresses.region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: addresses.dynamodbEndpoint,
    AWS_ENDPOINT_URL_SQS: addresses.sqsEndpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: addresses.secretsEndpoint,
  };
}

/** Leads events for one name to a receiver on this machine, by what is loaded before the function. */
function receiverEnvironment({ webhookReceiverPort }: ServerAddresses): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${new URL('trusted-receiver.ts', import.meta.url).href}`,
    WEBHOOK_TRUSTED_RECEIVER: JSON.stringify(trustedReceiver(webhookReceiverPort)),
  };
}
