import type { secretPurposes } from '../names.ts';
import type { QueueName } from '../queues.ts';
import type { Settings } from '../settings.ts';
import type { TableName } from '../tables.ts';

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

/** Scan is missing: no function needs it, and an attacker in a function must not copy a table. */
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
  /**
   * Lambda collects a batch that is not full for this time; a batch of more than 10 needs it. Without it a batch starts
   * at once.
   */
  readonly windowSeconds?: number;
  /** A name refers to a setting. */
  readonly maximumConcurrency: number | 'dispatchMaximumConcurrency' | 'urgentMaximumConcurrency';
  /** Its code sets when a delivery comes again, so it needs the queue's URL. */
  readonly postpones?: true;
}

export function workersOf({ maximumConcurrency }: Consumption, settings: Settings): number {
  return typeof maximumConcurrency === 'number' ? maximumConcurrency : settings[maximumConcurrency];
}

/** A shape says how a function runs and what it may access; its role allows nothing else (R46). */
export interface FunctionShape {
  readonly timeoutSeconds: number;
  readonly memoryMb: number;
  /** A test compares these with the actions that its code uses. A transaction needs the actions in it. */
  readonly tables?: Readonly<Partial<Record<TableName, readonly TableVerb[]>>>;
  readonly secrets?: readonly SecretVariable[];
  readonly settings?: readonly SettingVariable[];
  readonly sendsTo?: readonly QueueName[];
  readonly consumes?: Consumption;
  /** A function without this setting shares the unreserved concurrency. */
  readonly reservedConcurrency?:
    | 'authorizerReservedConcurrency'
    | 'dispatchReservedConcurrency'
    | 'loginReservedConcurrency'
    | 'webhookReservedConcurrency';
  /** A new version first gets a tenth of the calls for five minutes (infra/constructs/canaries.ts). */
  readonly canary?: true;
  /** The function exists only in a deployment with this setting. */
  readonly onlyWith?: 'rateSourceUrl' | 'redirectBaseUrl';
}

export const platformSettings = ['PLATFORM_BASE_URL', 'PLATFORM_VERSION'] as const;
