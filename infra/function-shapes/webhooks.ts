import { forClients } from './endpoint.ts';
import type { FunctionShape } from './shape.ts';

export const webhookFunctions: Readonly<Record<string, FunctionShape>> = {
  'webhook-config-put': forClients({
    tables: { directory: ['GetItem'], webhooks: ['GetItem', 'PutItem', 'UpdateItem'], audit: ['PutItem'] },
    secrets: ['WEBHOOK_SEALING_KEYS_SECRET'],
    sendsTo: ['events'],
  }),
  'webhook-config-get': forClients({ tables: { directory: ['GetItem'], webhooks: ['GetItem'] } }),
  'events-deliver': {
    // A run starts posts to a receiver for 23 s and waits 15 s for the last answer; the rest is for reads and writes.
    timeoutSeconds: 60,
    // Memory buys processor share: each post is a TLS handshake.
    memoryMb: 1024,
    tables: { webhooks: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] },
    secrets: ['WEBHOOK_SEALING_KEYS_SECRET'],
    sendsTo: ['events'],
    consumes: { queue: 'events', batchSize: 10, maximumConcurrency: 20 },
  },
};
