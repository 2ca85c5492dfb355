import type { secretPurposes } from './names.ts';
import type { QueueName } from './queues.ts';
import type { Settings } from './settings.ts';
import type { TableName } from './tables.ts';

/** Environment variables whose value is a setting of the deployment. */
export const settingVariables = {
  TOKEN_ISSUER: 'tokenIssuer',
  TOKEN_AUDIENCE: 'tokenAudience',
  PLATFORM_BASE_URL: 'platformBaseUrl',
  PLATFORM_VERSION: 'platformVersion',
  SYNC_LOCK_SCOPE: 'syncLockScope',
  REDIRECT_BASE_URL: 'redirectBaseUrl',
  RATE_SOURCE_URL: 'rateSourceUrl',
  DISPATCH_MAXIMUM_CONCURRENCY: 'dispatchMaximumConcurrency',
  CLIENT_RATE_PER_MINUTE: 'clientRatePerMinute',
} as const satisfies Record<string, keyof Settings>;

export type SettingVariable = keyof typeof settingVariables;
export type SecretVariable = keyof typeof secretPurposes;

/** What a function may ask of a table. No Scan: nothing needs one, and whoever takes a function over cannot copy a table with it. */
export type TableVerb =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

export interface Consumption {
  readonly queue: QueueName;
  readonly batchSize: number;
  /** How long a batch is gathered that is not full: a batch of more than 10 needs one. None: what is there goes at once. */
  readonly windowSeconds?: number;
  /** Copies of the function that may work on the queue at the same time; a name refers to a setting. */
  readonly maximumConcurrency: number | 'dispatchMaximumConcurrency' | 'urgentMaximumConcurrency';
  /** Its code sets when a delivery comes again, so it is told the queue's address. */
  readonly postpones?: true;
}

/** How many copies of a function its queue may start. */
export function workersOf({ maximumConcurrency }: Consumption, settings: Settings): number {
  return typeof maximumConcurrency === 'number' ? maximumConcurrency : settings[maximumConcurrency];
}

/** One function: how it runs and what it may touch. What is not listed, its role does not allow (R46). */
export interface FunctionShape {
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** Exactly the verbs that its code uses: a test compares. A transaction needs those of the actions in it. */
  readonly tables?: Readonly<Partial<Record<TableName, readonly TableVerb[]>>>;
  readonly secrets?: readonly SecretVariable[];
  readonly settings?: readonly SettingVariable[];
  readonly sendsTo?: readonly QueueName[];
  readonly consumes?: Consumption;
  /** The setting that says how much of the account's concurrency is kept for it; none takes from what is left. */
  readonly reservedConcurrency?: 'authorizerReservedConcurrency' | 'dispatchReservedConcurrency';
  /**
   * A new version gets a tenth of the calls for five minutes first (infra/constructs/canaries.ts). These alarms, beside that
   * on its own errors, take it back.
   */
  readonly canary?: readonly ('outcomes-unknown' | 'api-5xx' | 'authorizer-failures')[];
  /** The function exists only in a deployment that sets this. */
  readonly onlyWith?: 'rateSourceUrl' | 'redirectBaseUrl';
}

/** The gateway gives up at 30 s. Half a gigabyte is for its share of processor: start-up is what a caller waits for. */
const endpoint = { timeoutSeconds: 29, memoryMb: 512 };

/** An endpoint behind the authorizer: its requests count for their client (D54). */
function forClients({ tables = {}, settings = [], ...shape }: Partial<FunctionShape>): FunctionShape {
  return {
    ...endpoint,
    ...shape,
    tables: { ...tables, budgets: ['UpdateItem'] },
    settings: [...settings, 'CLIENT_RATE_PER_MINUTE'],
  };
}

const platformSettings = ['PLATFORM_BASE_URL', 'PLATFORM_VERSION'] as const;

const editingSettings = [...platformSettings, 'REDIRECT_BASE_URL'] as const;

/** A worker of messages for the platform. */
const dispatching = {
  canary: ['outcomes-unknown'],
  timeoutSeconds: 60,
  memoryMb: 256,
  tables: {
    messages: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
    webhooks: ['GetItem'],
  },
  secrets: ['PLATFORM_CREDENTIALS_SECRET'],
  settings: platformSettings,
} as const satisfies FunctionShape;

/** Every function, by the stem of its file in `functions/`. */
export const functions: Readonly<Record<string, FunctionShape>> = {
  health: { ...endpoint, memoryMb: 128 },
  // The gateway waits 10 s for an authorizer; every request without a cached answer waits with it.
  authorizer: {
    timeoutSeconds: 5,
    memoryMb: 512,
    // However much work the queues hold, requests get in.
    reservedConcurrency: 'authorizerReservedConcurrency',
    canary: ['authorizer-failures'],
    secrets: ['TOKEN_VERIFICATION_KEYS_SECRET'],
    settings: ['TOKEN_ISSUER', 'TOKEN_AUDIENCE'],
  },
  login: {
    ...endpoint,
    memoryMb: 1024,
    tables: { credentials: ['GetItem', 'UpdateItem', 'DeleteItem'], directory: ['GetItem'] },
    secrets: ['TOKEN_SIGNING_KEYS_SECRET'],
    settings: ['TOKEN_ISSUER', 'TOKEN_AUDIENCE'],
  },
  'templates-list': forClients({
    memoryMb: 1024,
    tables: { directory: ['GetItem', 'Query'], templates: ['BatchGetItem', 'Query'] },
  }),
  'templates-get': forClients({
    tables: { directory: ['GetItem', 'Query'], templates: ['BatchGetItem'] },
  }),
  'campaigns-list': forClients({ tables: { directory: ['GetItem', 'Query'] } }),
  'channels-list': forClients({ memoryMb: 1024, tables: { directory: ['GetItem'], channels: ['Query'] } }),
  'templates-create': forClients({
    // Here and in an edit, header media by URL are held whole while they are checked and uploaded.
    memoryMb: 1024,
    tables: {
      directory: ['GetItem', 'BatchGetItem', 'Query'],
      templates: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
      redirects: ['UpdateItem'],
      webhooks: ['GetItem'],
    },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: editingSettings,
    sendsTo: ['events'],
  }),
  'templates-edit': forClients({
    memoryMb: 1024,
    tables: {
      directory: ['GetItem'],
      templates: ['BatchGetItem', 'UpdateItem'],
      redirects: ['UpdateItem'],
      webhooks: ['GetItem'],
    },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: editingSettings,
    sendsTo: ['events'],
  }),
  'templates-delete': forClients({
    tables: {
      directory: ['GetItem'],
      templates: ['BatchGetItem', 'UpdateItem'],
      redirects: ['UpdateItem'],
      webhooks: ['GetItem'],
    },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: platformSettings,
    sendsTo: ['events'],
  }),
  'templates-sync': forClients({
    tables: { directory: ['GetItem', 'Query'], templates: ['GetItem', 'UpdateItem'] },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: [...platformSettings, 'SYNC_LOCK_SCOPE'],
    sendsTo: ['sync'],
  }),
  'templates-sync-worker': {
    // It stops with a checkpoint 45 s before the end; a crashed run's message comes back after six times this.
    timeoutSeconds: 120,
    memoryMb: 1024,
    tables: {
      directory: ['GetItem', 'Query'],
      templates: ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem'],
      channels: ['BatchGetItem', 'Query', 'UpdateItem'],
      redirects: ['UpdateItem'],
      webhooks: ['GetItem'],
    },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: [...platformSettings, 'SYNC_LOCK_SCOPE'],
    sendsTo: ['sync', 'events'],
    consumes: { queue: 'sync', batchSize: 1, maximumConcurrency: 10 },
  },
  'templates-status': forClients({
    tables: { directory: ['GetItem', 'BatchGetItem', 'Query'], templates: ['BatchGetItem', 'UpdateItem'] },
  }),
  'channel-campaigns-grouped': forClients({
    tables: { directory: ['GetItem', 'BatchGetItem', 'Query'], templates: ['BatchGetItem'] },
  }),
  'channel-campaigns-add': forClients({
    tables: { directory: ['GetItem', 'BatchGetItem', 'Query'], templates: ['BatchGetItem', 'UpdateItem'] },
  }),
  'channel-campaigns-replace': forClients({
    tables: { directory: ['GetItem', 'BatchGetItem', 'Query'], templates: ['BatchGetItem', 'UpdateItem'] },
  }),
  'channel-campaigns-remove': forClients({
    tables: { directory: ['GetItem', 'Query'], templates: ['BatchGetItem', 'UpdateItem'] },
  }),
  'platform-webhook-verify': { ...endpoint, memoryMb: 256, secrets: ['PLATFORM_APPS_SECRET'] },
  'platform-webhook-receive': {
    ...endpoint,
    // For its share of processor: the platform wants its answer within a quarter of a second.
    memoryMb: 1024,
    secrets: ['PLATFORM_APPS_SECRET'],
    sendsTo: ['receipts', 'hints'],
  },
  'platform-hints': {
    // It begins no call with less than 25 s left; a turn's lease is longer (lib/hints/turns.ts).
    timeoutSeconds: 60,
    memoryMb: 1024,
    tables: {
      directory: ['GetItem', 'Query'],
      templates: ['GetItem', 'BatchGetItem', 'Query', 'UpdateItem'],
      channels: ['BatchGetItem', 'Query', 'UpdateItem'],
      webhooks: ['GetItem'],
      redirects: ['UpdateItem'],
    },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: platformSettings,
    sendsTo: ['hints', 'events'],
    consumes: { queue: 'hints', batchSize: 10, maximumConcurrency: 5 },
  },
  redirect: { ...endpoint, tables: { redirects: ['GetItem'] }, onlyWith: 'redirectBaseUrl' },
  'catalog-products-list': forClients({
    tables: { directory: ['GetItem'] },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: platformSettings,
  }),
  'pricing-get': forClients({ tables: { rates: ['GetItem'] } }),
  'pricing-refresh': {
    timeoutSeconds: 60,
    memoryMb: 256,
    tables: { rates: ['GetItem', 'PutItem'] },
    settings: ['RATE_SOURCE_URL'],
    onlyWith: 'rateSourceUrl',
  },
  'webhook-config-put': forClients({
    tables: { directory: ['GetItem'], webhooks: ['GetItem', 'PutItem', 'UpdateItem'] },
    secrets: ['WEBHOOK_SEALING_KEYS_SECRET'],
  }),
  'webhook-config-get': forClients({ tables: { directory: ['GetItem'], webhooks: ['GetItem'] } }),
  'messages-send': forClients({
    canary: ['api-5xx'],
    memoryMb: 1024,
    tables: {
      directory: ['GetItem'],
      templates: ['BatchGetItem', 'UpdateItem'],
      messages: ['PutItem', 'UpdateItem', 'DeleteItem'],
      redirects: ['UpdateItem'],
      webhooks: ['GetItem'],
      channels: ['BatchGetItem'],
    },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: platformSettings,
    sendsTo: ['sendJobs', 'dispatch', 'urgent', 'events'],
  }),
  // All receipts of a job of 10,000 are in memory at once.
  'messages-report': forClients({
    memoryMb: 1024,
    tables: { directory: ['GetItem'], messages: ['BatchGetItem', 'Query'] },
  }),
  'messages-cancel': forClients({
    memoryMb: 1024,
    tables: { directory: ['GetItem'], messages: ['BatchGetItem', 'Query', 'UpdateItem'] },
  }),
  'dispatches-list': forClients({ tables: { directory: ['GetItem'], messages: ['BatchGetItem', 'Query'] } }),
  'messages-fan-out': {
    timeoutSeconds: 300,
    memoryMb: 1024,
    tables: { messages: ['GetItem', 'PutItem', 'UpdateItem'], channels: ['BatchGetItem'], webhooks: ['GetItem'] },
    settings: ['DISPATCH_MAXIMUM_CONCURRENCY'],
    sendsTo: ['sendJobs', 'dispatch', 'urgent', 'watch', 'events'],
    consumes: { queue: 'sendJobs', batchSize: 1, maximumConcurrency: 100, postpones: true },
  },
  'messages-dispatch': {
    ...dispatching,
    sendsTo: ['dispatch', 'watch', 'events'],
    consumes: { queue: 'dispatch', batchSize: 10, maximumConcurrency: 'dispatchMaximumConcurrency' },
    // However many requests come, messages leave at their slots.
    reservedConcurrency: 'dispatchReservedConcurrency',
  },
  'messages-dispatch-urgent': {
    ...dispatching,
    sendsTo: ['urgent', 'watch', 'events'],
    consumes: { queue: 'urgent', batchSize: 10, maximumConcurrency: 'urgentMaximumConcurrency' },
  },
  'messages-watch': {
    timeoutSeconds: 60,
    // A run holds what is known of five jobs, of 10,000 messages each at most.
    memoryMb: 512,
    tables: {
      messages: ['BatchGetItem', 'Query', 'UpdateItem'],
      templates: ['BatchGetItem'],
      webhooks: ['GetItem'],
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
    tables: { messages: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem'], webhooks: ['GetItem'] },
    sendsTo: ['events'],
    consumes: { queue: 'receipts', batchSize: 500, windowSeconds: 2, maximumConcurrency: 10 },
  },
  'events-deliver': {
    // A run posts to a receiver for 23 s and waits 15 s for the last answer; the rest is for reading and writing.
    timeoutSeconds: 60,
    // For its share of processor: each post is a TLS handshake.
    memoryMb: 1024,
    tables: { webhooks: ['GetItem', 'PutItem', 'UpdateItem'] },
    secrets: ['WEBHOOK_SEALING_KEYS_SECRET'],
    sendsTo: ['events'],
    consumes: { queue: 'events', batchSize: 10, maximumConcurrency: 20 },
  },
};
