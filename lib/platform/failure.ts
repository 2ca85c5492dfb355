import errorCodes from './error-codes.json' with { type: 'json' };

/**
 * A failed call is `not_sent`: no byte left; `refused`: an own error below HTTP 500, nothing done; or `ambiguous`: a
 * time-out, reset, HTTP 5xx or other text. Without an idempotency key, a paid call is never retried after that.
 */
export type FailureKind = 'not_sent' | 'refused' | 'ambiguous';

/**
 * Advice treats an error code (error-codes.json): `no` is permanent; `auth` is our credential's, for an operator;
 * `backoff` is the platform's transient trouble, which may have acted unless the row has a pace; `later` did nothing,
 * and follows that pace.
 */
export const refusalAdvices = ['no', 'auth', 'backoff', 'later'] as const;
export type RefusalAdvice = (typeof refusalAdvices)[number];

/** The pace says how soon a refused message is retried; the sender's policy sets the seconds. */
export const codePaces = ['pair', 'throughput', 'quota', 'restriction', 'maintenance', 'syncing'] as const;
export type CodePace = (typeof codePaces)[number];

/**
 * A code may hold more than its message (platform reference, 6.4). `edge` is a number's marketing on the messages edge.
 * While it lasts, the next such message is refused as well.
 */
export const holdKinds = ['waba', 'utility', 'number', 'marketing', 'edge', 'template'] as const;
export type HoldKind = (typeof holdKinds)[number];

/**
 * A code that holds nothing has a scope (platform reference, 6.5): `country` is all people of the recipient's country,
 * `credential` all calls with it.
 */
export const concerns = [
  'message',
  'recipient',
  'country',
  'template',
  'number',
  'waba',
  'credential',
  'platform',
] as const;
export type Concern = (typeof concerns)[number];

/**
 * A cause may pass (D57; platform reference, 6.4, 6.5): `yes` by itself or once fixed; `after_a_day` because earlier
 * retries are punished; `named` once a person or the client acted; `never` because it fails again, or must not go.
 */
export const retryAdvices = ['yes', 'after_a_day', 'named', 'never'] as const;
export type RetryAdvice = (typeof retryAdvices)[number];

export interface FailureFacts {
  readonly httpStatus?: number;
  readonly code?: number;
  readonly subcode?: number;
  /**
   * The text is the platform's for people: error_user_msg, else error_data.details, else message. It is never logged.
   */
  readonly userMessage?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export class PlatformFailure extends Error {
  readonly kind: FailureKind;
  readonly facts: FailureFacts;

  constructor(kind: FailureKind, facts: FailureFacts = {}) {
    super(`platform call ${kind}${facts.code === undefined ? '' : `, code ${facts.code}`}`, { cause: facts.cause });
    this.name = 'PlatformFailure';
    this.kind = kind;
    this.facts = facts;
  }

  /**
   * A throttled call was certainly not accepted, and is worth a retry (platform reference, 6.2). HTTP 429 counts
   * whatever the code.
   */
  get throttled(): boolean {
    if (this.kind !== 'refused' || this.isOfPerson) return false;
    return this.facts.httpStatus === 429 || entryOf(this.facts.code)?.kind === 'throttle';
  }

  /**
   * Returns the code if it is known, so that metrics have a bounded set. A throttled call has one of
   * `throttledMetricCodes`.
   */
  get metricCode(): string {
    const { code } = this.facts;
    const known = entryOf(code);
    if (this.throttled && known?.kind !== 'throttle') return throttledByStatus;
    return code === undefined ? this.kind : String(known?.code ?? 'other');
  }

  get advice(): RefusalAdvice {
    return entryOf(this.facts.code)?.advice ?? 'no';
  }

  /** Says how soon to retry; it is undefined when the code's row has no pace. */
  get pace(): CodePace | undefined {
    return codePaceOf(this.facts.code);
  }

  /**
   * Tells whether the answer proves that nothing was done. Codes 1, 2, 131000, 131016 and 133004 never prove it. At
   * HTTP 500 only 131057 (maintenance) and 131045 (a hold with its own status) do.
   */
  get provesNothingDone(): boolean {
    if (this.kind === 'refused') return this.advice !== 'backoff' || this.pace === 'maintenance';
    const known = entryOf(this.facts.code);
    return this.pace === 'maintenance' || (known?.holds !== undefined && known.status === this.facts.httpStatus);
  }

  /**
   * The platform judged the person, or the person's country. Other people's messages are unaffected, and no HTTP status
   * makes a retry of this one right (131049 above all).
   */
  get isOfPerson(): boolean {
    const known = entryOf(this.facts.code);
    return known?.advice === 'no' && (known.concerns === 'recipient' || known.concerns === 'country');
  }

  /**
   * The platform refused our credential, which concerns the operator, not the client. Codes about a person do not
   * count.
   */
  get credentialRefused(): boolean {
    if (this.kind !== 'refused' || this.isOfPerson) return false;
    return this.advice === 'auth' || this.facts.httpStatus === 401;
  }
}

interface CodeEntry {
  readonly code: number | string;
  readonly status: number;
  readonly kind: string;
  readonly advice: RefusalAdvice;
  readonly pace?: CodePace;
  /** A row has this or `concerns`; this one also gives the scope. */
  readonly holds?: HoldKind;
  readonly concerns?: Concern;
  /** The code holds this when a receipt drops a message that the platform had held back (platform reference, 2.10). */
  readonly holdsWhenDropped?: HoldKind;
  readonly retry: RetryAdvice;
}

const entries = new Map<number | string, CodeEntry>(
  errorCodes.flatMap((entry) => (entry.kind === 'template_mgmt' ? [] : [[entry.code, entry as CodeEntry]])),
);

/** HTTP 429 counts under this code if its own code is no throttle, or is missing. */
const throttledByStatus = 'throttled';

export const throttledMetricCodes: readonly string[] = [
  ...[...entries.values()].filter(({ kind }) => kind === 'throttle').map(({ code }) => String(code)),
  throttledByStatus,
];

export function codePaceOf(code: number | undefined): CodePace | undefined {
  return entryOf(code)?.pace;
}

export function holdKindOf(code: number | undefined): HoldKind | undefined {
  return entryOf(code)?.holds;
}

export function dropKindOf(code: number | undefined): HoldKind | undefined {
  return entryOf(code)?.holdsWhenDropped;
}

export function retryAdviceOf(code: number): RetryAdvice | undefined {
  return entryOf(code)?.retry;
}

function entryOf(code: number | undefined): CodeEntry | undefined {
  if (code === undefined) return undefined;
  return entries.get(code) ?? (code >= 200 && code <= 299 ? entries.get('200-299') : undefined);
}
