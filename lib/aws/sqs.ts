import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';

/**
 * The queue client: an attempt is cut after 5 s, three attempts. Retried sends may double a message, never lose it. It asks
 * the region's address or the one of the environment, never the host of a queue's address: AWS takes a queue's address as
 * a name, and behind an endpoint of one's own that host need not be there.
 */
export function queueClient(config: SQSClientConfig = {}): SQSClient {
  return new SQSClient({
    maxAttempts: 3,
    useQueueUrlAsEndpoint: false,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
    ...config,
  });
}
