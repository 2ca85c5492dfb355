import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';

/**
 * Builds the queue client: three attempts of 5 s, which may duplicate a message, never lose it. It ignores the host of
 * a queue's URL, which may not exist behind a configured endpoint.
 */
export function queueClient(config: SQSClientConfig = {}): SQSClient {
  return new SQSClient({
    maxAttempts: 3,
    useQueueUrlAsEndpoint: false,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
    ...config,
  });
}
