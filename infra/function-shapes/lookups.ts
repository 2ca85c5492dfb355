import { endpoint, forClients } from './endpoint.ts';
import { type FunctionShape, platformSettings } from './shape.ts';

export const lookupFunctions: Readonly<Record<string, FunctionShape>> = {
  me: forClients({ tables: { directory: ['GetItem', 'Query'] } }),
  'clients-list': forClients({ tables: { directory: ['GetItem', 'Query'] } }),
  'campaigns-list': forClients({ tables: { directory: ['GetItem', 'Query'] } }),
  'channels-list': forClients({ memoryMb: 1024, tables: { directory: ['GetItem'], channels: ['Query'] } }),
  'catalogs-list': forClients({
    tables: { directory: ['GetItem'] },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: platformSettings,
  }),
  'catalog-products-list': forClients({
    tables: { directory: ['GetItem'] },
    secrets: ['PLATFORM_CREDENTIALS_SECRET'],
    settings: platformSettings,
  }),
  'pricing-get': forClients({ tables: { rates: ['GetItem'] } }),
  // The sums of a year, with hundreds of campaigns a day, are in memory at once.
  'spend-get': forClients({ memoryMb: 1024, tables: { directory: ['GetItem'], messages: ['Query'] } }),
  'pricing-refresh': {
    timeoutSeconds: 60,
    memoryMb: 256,
    tables: { rates: ['GetItem', 'PutItem'] },
    settings: ['RATE_SOURCE_URL'],
    onlyWith: 'rateSourceUrl',
  },
  redirect: { ...endpoint, tables: { redirects: ['GetItem'] }, onlyWith: 'redirectBaseUrl' },
};
