import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';

/** The queue client: an attempt is cut after 5 s, three attempts. Retried sends may double a message, never lose it. */
export function queueClient(config: SQSClientConfig = {}): SQSClient {
  return new SQSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
    ...config,
  });
}
