import { forClients } from './endpoint.ts';
import { type FunctionShape, platformSettings } from './shape.ts';

/** A worker of messages for the platform. */
const dispatching = {
  canary: true,
  timeoutSeconds: 60,
  memoryMb: 256,
  tables: {
    messages: ['GetItem', 'BatchGetItem', 'BatchWriteItem', 'Query', 'PutItem', 'UpdateItem'],
    webhooks: ['GetItem'],
    rates: ['GetItem'],
  },
  // The key that names people is read with the first slice of a sender that has opt-outs.
  secrets: ['PLATFORM_CREDENTIALS_SECRET', 'PERSON_KEY_SECRET'],
  settings: platformSettings,
} as const satisfies FunctionShape;

/** What accepts messages, or rehearses them. */
const accepting = {
  memoryMb: 1024,
  tables: {
    directory: ['GetItem', 'Query'],
    templates: ['BatchGetItem', 'UpdateItem'],
    messages: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
    rates: ['GetItem'],
    redirects: ['UpdateItem'],
    webhooks: ['GetItem'],
    // A rehearsal asks for the numbers of a portfolio, and for what has left from them.
    channels: ['BatchGetItem', 'Query'],
  },
  secrets: ['PLATFORM_CREDENTIALS_SECRET', 'PERSON_KEY_SECRET'],
  settings: platformSettings,
  sendsTo: ['sendJobs', 'urgent', 'events'],
} as const satisfies Partial<FunctionShape>;

/** The way of a message, from the request to its receipts. */
export const messageFunctions: Readonly<Record<string, FunctionShape>> = {
  'messages-send': forClients({ ...accepting, canary: true }),
  'messages-retry': forClients(accepting),
  // All receipts of a job of 10,000 are in memory at once.
  'messages-report': forClients({
    memoryMb: 1024,
    tables: { directory: ['GetItem'], messages: ['Query'], rates: ['GetItem'] },
  }),
  'messages-cancel': forClients({
    memoryMb: 1024,
    tables: {
      directory: ['GetItem'],
      messages: ['BatchGetItem', 'Query', 'UpdateItem'],
      rates: ['GetItem'],
      audit: ['PutItem'],
    },
  }),
  'dispatches-list': forClients({ tables: { directory: ['GetItem'], messages: ['BatchGetItem', 'Query'] } }),
  // Of some tens of thousands of messages all slices and receipts are in memory at once.
  'dispatches-find': forClients({
    memoryMb: 1024,
    tables: { directory: ['GetItem'], messages: ['BatchGetItem', 'Query'] },
  }),
  'dispatches-cancel': forClients({
    memoryMb: 1024,
    tables: { directory: ['GetItem'], messages: ['Query', 'UpdateItem'], audit: ['PutItem'] },
  }),
  'messages-fan-out': {
    timeoutSeconds: 300,
    memoryMb: 1024,
    tables: {
      messages: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
      channels: ['BatchGetItem'],
      webhooks: ['GetItem'],
      // The template of a scheduled send is judged once more when it is released, and the channel looked for.
      templates: ['BatchGetItem'],
      directory: ['GetItem'],
    },
    sendsTo: ['sendJobs', 'dispatch', 'watch', 'events'],
    consumes: { queue: 'sendJobs', batchSize: 1, maximumConcurrency: 100, postpones: true },
  },
  'messages-lost-rounds': {
    timeoutSeconds: 300,
    memoryMb: 256,
    tables: { messages: ['Query', 'BatchGetItem', 'DeleteItem'] },
    sendsTo: ['sendJobs'],
  },
  'messages-dispatch': {
    ...dispatching,
    sendsTo: ['dispatch', 'watch', 'events', 'inbound'],
    // A chunk is thirty recipients: two of them in one run would be sixty who hang on one process.
    consumes: { queue: 'dispatch', batchSize: 1, maximumConcurrency: 'dispatchMaximumConcurrency' },
    // However many requests come, messages leave at their slots.
    reservedConcurrency: 'dispatchReservedConcurrency',
  },
  'messages-dispatch-urgent': {
    ...dispatching,
    sendsTo: ['dispatch', 'urgent', 'watch', 'events', 'inbound'],
    consumes: { queue: 'urgent', batchSize: 10, maximumConcurrency: 'urgentMaximumConcurrency' },
  },
  'messages-watch': {
    timeoutSeconds: 60,
    // A run holds what is known of five jobs, of 10,000 messages each at most.
    memoryMb: 512,
    tables: {
      messages: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
      templates: ['BatchGetItem'],
      webhooks: ['GetItem'],
      rates: ['GetItem'],
    },
    // A template that is paused is asked for until it is back.
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: platformSettings,
    sendsTo: ['watch', 'events'],
    consumes: { queue: 'watch', batchSize: 5, maximumConcurrency: 10 },
  },
  'messages-receipts': {
    // A full batch is 6 MB of receipts, gathered so that those of one job are appended together; where each is an event
    // to queue, that is what the time is for.
    timeoutSeconds: 120,
    // For its share of processor: a run reads, hashes and queues up to 24,000 receipts.
    memoryMb: 1024,
    tables: {
      messages: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
      webhooks: ['GetItem'],
      rates: ['GetItem'],
    },
    sendsTo: ['watch', 'events', 'inbound'],
    consumes: { queue: 'receipts', batchSize: 500, windowSeconds: 2, maximumConcurrency: 10 },
  },
};
