/**
 * The stateful stack and the adapter tests on DynamoDB Local create these tables. `variable` is the environment
 * variable in which a granted function finds the table's name.
 */
export interface TableShape {
  readonly variable: string;
  readonly sortKey: boolean;
  readonly expires: boolean;
  readonly holds: string;
}

/** Every table has a string partition key `pk`; where marked, a string sort key `sk` and a TTL in seconds. */
export const timeToLiveAttribute = 'expiresAtSeconds';

export const tables = {
  credentials: {
    variable: 'CREDENTIALS_TABLE',
    sortKey: false,
    expires: true,
    holds: 'password hashes and failed-login counters; only login and provisioning may touch it',
  },
  directory: {
    variable: 'DIRECTORY_TABLE',
    sortKey: true,
    expires: false,
    holds: 'clients, user profiles, WABAs, channels (DIDs), campaigns',
  },
  templates: {
    variable: 'TEMPLATES_TABLE',
    sortKey: true,
    expires: false,
    holds: 'template facts per WABA, one compact row per client and template, the sync lock',
  },
  messages: {
    variable: 'MESSAGES_TABLE',
    sortKey: true,
    expires: true,
    holds:
      'dispatches, their recipients and parameters, slices with outcomes, receipts, the paces of numbers, what the platform calls messages, idempotency records, recent look-ups at the platform, what was spent',
  },
  channels: {
    variable: 'CHANNELS_TABLE',
    sortKey: true,
    expires: false,
    holds: 'channels as they are listed, with what the platform says of them',
  },
  webhooks: {
    variable: 'WEBHOOKS_TABLE',
    sortKey: true,
    expires: true,
    holds: 'webhook configurations, the state of delivery, events of the last 7 days, events that wait for a receiver',
  },
  rates: {
    variable: 'RATES_TABLE',
    sortKey: false,
    expires: false,
    holds: 'the last good price rates',
  },
  redirects: {
    variable: 'REDIRECTS_TABLE',
    sortKey: false,
    expires: true,
    holds: 'where the codes of redirects lead',
  },
  budgets: {
    variable: 'BUDGETS_TABLE',
    sortKey: false,
    expires: true,
    holds: 'how many requests each client and its users have leased of a minute',
  },
  audit: {
    variable: 'AUDIT_TABLE',
    sortKey: true,
    expires: true,
    holds:
      'who did what in the last 400 days: users of clients, and operators by their commands; functions only add to it',
  },
} as const satisfies Record<string, TableShape>;

export type TableName = keyof typeof tables;
