import type { ServerAddresses } from './servers.ts';
import { trustedReceiver } from './webhook-receiver.ts';

/** The emulators accept any credentials. */
export const localCredentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** The simulator shows the examples of templates under this host, which exists nowhere. */
export const platformMediaHost = 'scontent.example.com';

/** Returns what Lambda gives every function, and the addresses of the local services. */
export function functionEnvironment(addresses: ServerAddresses): Record<string, string> {
  return {
    AWS_REGION: addresses.region,
    AWS_DEFAULT_REGION: addresses.region,
    AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: addresses.dynamodbEndpoint,
    AWS_ENDPOINT_URL_SQS: addresses.sqsEndpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: addresses.secretsEndpoint,
  };
}

/**
 * Sends events for one host name to a local receiver, and downloads of the platform's media to the simulator, by a
 * module that is loaded before the function.
 */
export function receiverEnvironment({ webhookReceiverPort, platformUrl }: ServerAddresses): Record<string, string> {
  const media = { host: platformMediaHost, port: Number(new URL(platformUrl).port), ca: null };
  return {
    NODE_OPTIONS: `--import=${new URL('trusted-receiver.ts', import.meta.url).href}`,
    TRUSTED_RECEIVERS: JSON.stringify([trustedReceiver(webhookReceiverPort), media]),
  };
}
