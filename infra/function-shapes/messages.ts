import { forClients } from './endpoint.ts';
import { type FunctionShape, platformSettings } from './shape.ts';

const dispatching = {
  canary: true,
  timeoutSeconds: 60,
  memoryMb: 256,
  tables: {
    messages: ['GetItem', 'BatchGetItem', 'BatchWriteItem', 'Query', 'PutItem', 'UpdateItem'],
    // After a review, messages are judged again by template and channel.
    templates: ['BatchGetItem'],
    directory: ['GetItem'],
    webhooks: ['GetItem'],
    rates: ['GetItem'],
  },
  // The key of people is read with the first slice of a sender that has opt-outs.
  secrets: ['PLATFORM_CREDENTIALS_SECRET', 'PERSON_KEY_SECRET'],
  settings: platformSettings,
} as const satisfies FunctionShape;

const accepting = {
  memoryMb: 1024,
  tables: {
    directory: ['GetItem', 'Query'],
    templates: ['BatchGetItem', 'UpdateItem'],
    messages: ['GetItem', 'BatchGetItem', 'BatchWriteItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
    rates: ['GetItem'],
    redirects: ['UpdateItem'],
    webhooks: ['GetItem'],
    // A rehearsal reads the portfolio's numbers, and what has left from them.
    channels: ['BatchGetItem', 'Query'],
  },
  secrets: ['PLATFORM_CREDENTIALS_SECRET', 'PERSON_KEY_SECRET'],
  settings: platformSettings,
  sendsTo: ['dispatch', 'urgent', 'events'],
} as const satisfies Partial<FunctionShape>;

export const messageFunctions: Readonly<Record<string, FunctionShape>> = {
  'messages-send': forClients({
    ...accepting,
    // DID and template are read in one request.
    tables: { ...accepting.tables, directory: ['GetItem', 'BatchGetItem', 'Query'] },
    canary: true,
  }),
  'messages-retry': forClients(accepting),
  // All receipts of a dispatch of 10,000 are in memory at once.
  'messages-report': forClients({
    memoryMb: 1024,
    tables: { directory: ['GetItem'], messages: ['Query'], rates: ['GetItem'] },
  }),
  'messages-cancel': forClients({
    memoryMb: 1024,
    tables: {
      directory: ['GetItem'],
      messages: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
      channels: ['BatchGetItem'],
      rates: ['GetItem'],
      audit: ['PutItem'],
    },
    sendsTo: ['dispatch'],
  }),
  'dispatches-list': forClients({ tables: { directory: ['GetItem'], messages: ['BatchGetItem', 'Query'] } }),
  // The slices and receipts of tens of thousands of messages are in memory at once.
  'dispatches-find': forClients({
    memoryMb: 1024,
    tables: { directory: ['GetItem'], messages: ['BatchGetItem', 'Query'] },
  }),
  'dispatches-cancel': forClients({
    memoryMb: 1024,
    tables: {
      directory: ['GetItem'],
      messages: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
      channels: ['BatchGetItem'],
      rates: ['GetItem'],
      audit: ['PutItem'],
    },
    sendsTo: ['dispatch'],
  }),
  'messages-sweep': {
    timeoutSeconds: 300,
    memoryMb: 256,
    tables: {
      messages: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'],
      channels: ['BatchGetItem'],
    },
    sendsTo: ['dispatch'],
  },
  'messages-dispatch': {
    ...dispatching,
    // A run sends for 100 s; the rest is for what it has claimed.
    timeoutSeconds: 120,
    // Memory buys processor share: a run makes 125 calls a second.
    memoryMb: 512,
    tables: {
      ...dispatching.tables,
      messages: [...dispatching.tables.messages, 'DeleteItem', 'ConditionCheckItem'],
      // A sender reads the template of a hold, and stores what it has read.
      templates: ['BatchGetItem', 'UpdateItem'],
      redirects: ['UpdateItem'],
      // How fast a number may send decides how many senders it has.
      channels: ['BatchGetItem'],
    },
    sendsTo: ['dispatch', 'counts', 'events', 'inbound'],
    // A run is the sender of one number.
    consumes: { queue: 'dispatch', batchSize: 1, maximumConcurrency: 'dispatchMaximumConcurrency' },
    // Messages leave in the pace of their numbers however many requests come.
    reservedConcurrency: 'dispatchReservedConcurrency',
  },
  'messages-dispatch-urgent': {
    ...dispatching,
    tables: {
      messages: [...dispatching.tables.messages, 'DeleteItem'],
      webhooks: ['GetItem'],
      rates: ['GetItem'],
    },
    sendsTo: ['dispatch', 'urgent', 'events', 'inbound'],
    consumes: { queue: 'urgent', batchSize: 10, maximumConcurrency: 'urgentMaximumConcurrency' },
  },
  'spend-count': {
    timeoutSeconds: 60,
    // A run holds the state of five dispatches, of up to 10,000 messages each.
    memoryMb: 512,
    tables: { messages: ['Query', 'PutItem', 'UpdateItem'], rates: ['GetItem'] },
    sendsTo: ['counts'],
    consumes: { queue: 'counts', batchSize: 5, maximumConcurrency: 10 },
  },
  'messages-receipts': {
    // A full batch is 6 MB of receipts, grouped by dispatch. Each receipt may cause an event to queue, which takes
    // time.
    timeoutSeconds: 120,
    // Memory buys processor share: a run reads, hashes and queues up to 24,000 receipts.
    memoryMb: 1024,
    tables: {
      messages: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
      webhooks: ['GetItem'],
      rates: ['GetItem'],
    },
    sendsTo: ['counts', 'events', 'inbound'],
    consumes: { queue: 'receipts', batchSize: 500, windowSeconds: 2, maximumConcurrency: 10 },
  },
};
