import { endpoint } from './endpoint.ts';
import { type FunctionShape, platformSettings } from './shape.ts';

export const platformWebhookFunctions: Readonly<Record<string, FunctionShape>> = {
  'platform-webhook-verify': { ...endpoint, memoryMb: 256, secrets: ['PLATFORM_APPS_SECRET'] },
  'platform-webhook-receive': {
    ...endpoint,
    // Memory buys processor share: the platform expects its answer within a quarter of a second.
    memoryMb: 1024,
    // A flood of posts takes only this share of the account, and campaigns leave this share to the platform.
    reservedConcurrency: 'webhookReservedConcurrency',
    secrets: ['PLATFORM_APPS_SECRET'],
    sendsTo: ['receipts', 'hints', 'inbound'],
  },
  'platform-hints': {
    // The worker starts no call with less than 25 s left; a turn's lease is longer (lib/hints/hint-state.ts).
    timeoutSeconds: 60,
    memoryMb: 1024,
    tables: {
      directory: ['GetItem', 'Query'],
      templates: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
      channels: ['BatchGetItem', 'Query', 'UpdateItem'],
      webhooks: ['GetItem'],
      redirects: ['UpdateItem'],
      messages: ['GetItem', 'PutItem'],
    },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: platformSettings,
    sendsTo: ['hints', 'events'],
    consumes: { queue: 'hints', batchSize: 10, maximumConcurrency: 5 },
  },
  'platform-inbound': {
    timeoutSeconds: 60,
    memoryMb: 256,
    tables: {
      directory: ['GetItem'],
      channels: ['BatchGetItem'],
      messages: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'],
      webhooks: ['GetItem'],
    },
    secrets: ['PERSON_KEY_SECRET'],
    sendsTo: ['events'],
    consumes: { queue: 'inbound', batchSize: 10, maximumConcurrency: 10 },
  },
};
