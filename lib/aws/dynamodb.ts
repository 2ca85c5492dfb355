import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { requestHandler } from './request-handler.ts';
import { requestSigner } from './request-signer.ts';

/**
 * Builds the document client of every store: four attempts of 3 s with the SDK's jittered backoff, because a hung
 * socket must not use up the function's time. Lambda's environment sets endpoint, region and credentials.
 */
export function documentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client: DynamoDBClient = new DynamoDBClient({
    maxAttempts: 4,
    requestHandler: requestHandler({ connectMs: 1_000, replyMs: 3_000 }),
    signer: requestSigner({
      service: 'dynamodb',
      region: () => client.config.region(),
      credentials: () => client.config.credentials(),
    }),
    ...config,
  });
  // The SDK composes its name for each request, a tenth of the request's processor time.
  client.middlewareStack.removeByTag('USER_AGENT');
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}
