import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { requestHandler } from './request-handler.ts';
import { requestSigner } from './request-signer.ts';

/**
 * Builds the queue client: three attempts of 5 s, which may duplicate a message, never lose it. It ignores the host of
 * a queue's URL, which may not exist behind a configured endpoint.
 */
export function queueClient(config: SQSClientConfig = {}): SQSClient {
  const client: SQSClient = new SQSClient({
    maxAttempts: 3,
    useQueueUrlAsEndpoint: false,
    requestHandler: requestHandler({ connectMs: 1_000, replyMs: 5_000 }),
    signer: requestSigner({
      service: 'sqs',
      region: () => client.config.region(),
      credentials: () => client.config.credentials(),
    }),
    ...config,
  });
  // As in dynamodb.ts.
  client.middlewareStack.removeByTag('USER_AGENT');
  return client;
}
