import { rm } from 'node:fs/promises';
import type { LocalStack } from '../operate/local-stacks.ts';
import { startDynamoDb } from './dynamodb.ts';
import { freePort, runningEmulator, startSqsEmulator } from './emulators.ts';
import { localRegion } from './intrinsics.ts';
import type { DynamoDbChoice } from './preflight.ts';
import { runScript, startSimulatorProcess } from './processes.ts';
import { queueUrlAt } from './queues.ts';
import { startSecretStore } from './secret-store.ts';
import type { Parts } from './stack-parts.ts';
import { readLocalTemplate } from './template.ts';

export interface ServerOptions {
  /** 0 takes any free port. */
  readonly platformPort: number;
  /** The stack removes this folder when it ends. Concurrent stacks need different folders. */
  readonly outputDirectory: string;
  /** The functions were just built, so dist is used as it is. */
  readonly built?: boolean;
  readonly dynamodb: DynamoDbChoice;
  readonly sqsEndpoint?: string | undefined;
  /** The function with this file stem waits for a debugger on the port, without timeouts. */
  readonly inspected?: { readonly name: string; readonly port: number } | undefined;
}

export const localStage = 'local';

/** The API's address is missing, because the API opens last. */
export type ServerAddresses = Omit<LocalStack, 'pid' | 'apiUrl'>;

interface Addressed {
  readonly redirectBaseUrl: string;
}

interface Assembly {
  readonly parts: Parts;
  readonly onExit: (how: string) => void;
}

export async function startServers(options: ServerOptions & Addressed, { parts, onExit }: Assembly) {
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
    stage: localStage,
    queueUrls: Object.fromEntries(template.queues.map(({ name }) => [name, queueUrl(name)])),
    webhookReceiverPort: await freePort(),
  };
  return { template, addresses, queueUrl };
}

async function synthesize(
  parts: Parts,
  { outputDirectory, inspected, built = false }: ServerOptions,
  addresses: Addressed & { readonly platformBaseUrl: string },
): Promise<void> {
  const removal = { stop: () => rm(outputDirectory, { recursive: true, force: true }) };
  await parts.start('servers', async () => removal);
  const readable = inspected === undefined ? [] : ['--readable'];
  if (!built) await parts.run((signal) => runScript('infra/build.ts', { arguments: readable, signal }));
  const environment = {
    CDK_OUTDIR: outputDirectory,
    CDK_CONTEXT_JSON: JSON.stringify({
      stage: localStage,
      // Requests are counted as when deployed, under a limit that is never reached.
      clientRatePerMinute: 100_000,
      // The gateway allows all local pages once the template configures CORS.
      corsOrigins: addresses.platformBaseUrl,
      ...addresses,
    }),
    // CloudFormation's rules take most of the time and matter only for a deployment.
    CDK_VALIDATION: 'false',
  };
  await parts.run((signal) => runScript('infra/app.ts', { environment, signal }));
}
