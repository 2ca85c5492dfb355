import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/**
 * The document client of every store. A single attempt is cut after 3 s (DynamoDB answers in milliseconds; a hung
 * socket must not eat the function's time), four attempts with the SDK's jittered backoff. Endpoint, region and
 * credentials come from the environment, as everywhere in Lambda.
 */
export function documentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
    ...config,
  });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}
