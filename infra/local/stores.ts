import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { subscriptionLines } from '../../lib/provisioning/subscription-lines.ts';
import { provisionFile } from '../operate/tables/provision.ts';
import { localPlatform, localTarget } from '../operate/target.ts';
import { localCredentials } from './function-environment.ts';
import { localRegion } from './intrinsics.ts';
import type { LocalTemplate } from './local-template.ts';
import { createQueues, queueUrlAt } from './queues.ts';
import type { ServerAddresses } from './servers.ts';
import type { Parts } from './stack-parts.ts';
import { createTables } from './tables.ts';

const demoData = join(import.meta.dirname, 'demo', 'provisioning.json');

/** Returns the queue client for the poller. */
export async function prepareStores(
  parts: Parts,
  template: LocalTemplate,
  { report, ...addresses }: ServerAddresses & { readonly report: (line: string) => void },
): Promise<SQSClient> {
  const client = { region: localRegion, credentials: localCredentials };
  const dynamodbClient = new DynamoDBClient({ ...client, endpoint: addresses.dynamodbEndpoint });
  const sqsClient = new SQSClient({ ...client, endpoint: addresses.sqsEndpoint });
  await parts.start('functions', async () => ({ stop: async () => sqsClient.destroy() }));
  const queueUrl = queueUrlAt(addresses.sqsEndpoint);
  await Promise.all([
    createTables(dynamodbClient, template.tables),
    createQueues({ client: sqsClient, queues: template.queues, queueUrl }),
  ]);
  dynamodbClient.destroy();
  // A server that keeps its data may hold further clients, whose platform tokens ended with the stack before.
  const { subscriptions } = await provisionFile(demoData, localTarget(addresses), {
    removalsAllowed: Number.POSITIVE_INFINITY,
    platform: localPlatform(addresses),
  });
  for (const line of subscriptionLines(subscriptions)) report(line);
  return sqsClient;
}
