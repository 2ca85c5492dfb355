import { forClients } from './endpoint.ts';
import { type FunctionShape, platformSettings } from './shape.ts';

const editingSettings = [...platformSettings, 'REDIRECT_BASE_URL'] as const;

/** Edit and delete change an existing template at the platform. */
const changing = {
  tables: {
    directory: ['GetItem'],
    templates: ['BatchGetItem', 'UpdateItem'],
    redirects: ['UpdateItem'],
    webhooks: ['GetItem'],
    audit: ['PutItem'],
  },
  secrets: ['PLATFORM_CREDENTIALS_SECRET'],
  sendsTo: ['events'],
} as const satisfies Partial<FunctionShape>;

export const templateFunctions: Readonly<Record<string, FunctionShape>> = {
  'templates-list': forClients({
    memoryMb: 1024,
    tables: { directory: ['GetItem', 'Query'], templates: ['BatchGetItem', 'Query'] },
  }),
  'templates-get': forClients({
    tables: { directory: ['GetItem', 'Query'], templates: ['BatchGetItem'] },
  }),
  'templates-create': forClients({
    // Create and edit hold header media by URL in memory while they check and upload it.
    memoryMb: 1024,
    tables: {
      directory: ['GetItem', 'BatchGetItem', 'Query'],
      templates: ['BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
      redirects: ['UpdateItem'],
      webhooks: ['GetItem'],
      audit: ['PutItem'],
    },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: editingSettings,
    sendsTo: ['events'],
  }),
  'templates-edit': forClients({
    ...changing,
    memoryMb: 1024,
    // An edit holds the template's messages, and counts the dispatches that wait.
    tables: { ...changing.tables, messages: ['GetItem', 'BatchGetItem', 'Query', 'PutItem'] },
    settings: editingSettings,
  }),
  'templates-delete': forClients({ ...changing, settings: platformSettings }),
  'templates-sync': forClients({
    tables: { directory: ['GetItem', 'Query'], templates: ['GetItem', 'PutItem'] },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: [...platformSettings, 'SYNC_LOCK_SCOPE'],
    sendsTo: ['sync'],
  }),
  'templates-sync-worker': {
    // The worker stops with a checkpoint 45 s before the end; the message of a crashed run comes back after six times
    // this.
    timeoutSeconds: 120,
    memoryMb: 1024,
    tables: {
      directory: ['GetItem', 'Query'],
      templates: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'],
      channels: ['BatchGetItem', 'Query', 'UpdateItem'],
      redirects: ['UpdateItem'],
      webhooks: ['GetItem'],
      // A reading of an approved template ends its hold.
      messages: ['GetItem', 'PutItem'],
    },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: [...platformSettings, 'SYNC_LOCK_SCOPE'],
    sendsTo: ['sync', 'events'],
    consumes: { queue: 'sync', batchSize: 1, maximumConcurrency: 10 },
  },
  'templates-status': forClients({
    tables: {
      directory: ['GetItem', 'BatchGetItem', 'Query'],
      templates: ['BatchGetItem', 'UpdateItem'],
      audit: ['PutItem'],
    },
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
};
