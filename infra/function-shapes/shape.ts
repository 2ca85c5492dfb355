import type { secretPurposes } from '../names.ts';
import type { QueueName } from '../queues.ts';
import type { Settings } from '../settings.ts';
import type { TableName } from '../tables.ts';

/** Environment variables whose value is a setting of the deployment. */
export const settingVariables = {
  TOKEN_ISSUER: 'tokenIssuer',
  TOKEN_AUDIENCE: 'tokenAudience',
  PLATFORM_BASE_URL: 'platformBaseUrl',
  PLATFORM_VERSION: 'platformVersion',
  SYNC_LOCK_SCOPE: 'syncLockScope',
  REDIRECT_BASE_URL: 'redirectBaseUrl',
  RATE_SOURCE_URL: 'rateSourceUrl',
  CLIENT_RATE_PER_MINUTE: 'clientRatePerMinute',
} as const satisfies Record<string, keyof Settings>;

export type SettingVariable = keyof typeof settingVariables;
export type SecretVariable = keyof typeof secretPurposes;

/** What a function may ask of a table. No Scan: nothing needs one, and whoever takes a function over cannot copy a table with it. */
export type TableVerb =
  | 'GetItem'
  | 'BatchGetItem'
  | 'BatchWriteItem'
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
  readonly reservedConcurrency?:
    | 'authorizerReservedConcurrency'
    | 'dispatchReservedConcurrency'
    | 'loginReservedConcurrency'
    | 'webhookReservedConcurrency';
  /** A new version gets a tenth of the calls for five minutes first (infra/constructs/canaries.ts). */
  readonly canary?: true;
  /** The function exists only in a deployment that sets this. */
  readonly onlyWith?: 'rateSourceUrl' | 'redirectBaseUrl';
}

/** Of every function that calls the platform. */
export const platformSettings = ['PLATFORM_BASE_URL', 'PLATFORM_VERSION'] as const;
