import errorCodes from './error-codes.json' with { type: 'json' };

/**
 * A failed call. `not_sent`: no byte of the request left. `refused`: an own error below HTTP 500, nothing done.
 * `ambiguous`: a time-out, reset, HTTP 5xx or other text; without an idempotency key, a paid call is never retried
 * after it.
 */
export type FailureKind = 'not_sent' | 'refused' | 'ambiguous';

/**
 * How to treat an error code (error-codes.json). `no`: permanent. `auth`: our credential, for an operator. `backoff`:
 * the platform's transient trouble, which may have acted unless the row has a pace. `later`: nothing was done; retry at
 * the row's pace.
 */
export const refusalAdvices = ['no', 'auth', 'backoff', 'later'] as const;
export type RefusalAdvice = (typeof refusalAdvices)[number];

/** How soon a refused message is retried; the sender's policy sets the seconds. */
export const codePaces = ['pair', 'throughput', 'quota', 'restriction', 'maintenance', 'syncing'] as const;
export type CodePace = (typeof codePaces)[number];

/**
 * What a code holds beyond its message (platform reference, 6.4). `edge`: a number's marketing on the messages edge.
 * While it lasts, the next such message is refused as well.
 */
export const holdKinds = ['waba', 'utility', 'number', 'marketing', 'edge', 'template'] as const;
export type HoldKind = (typeof holdKinds)[number];

/**
 * The scope of a code that holds nothing (platform reference, 6.5). `country`: all people of the recipient's country;
 * `credential`: all calls with it.
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
 * Whether a cause may pass (D57; platform reference, 6.4, 6.5). `yes`: by itself or once fixed. `after_a_day`: earlier
 * retries are punished. `named`: a person or the client must have acted. `never`: it fails again, or must not go.
 */
export const retryAdvices = ['yes', 'after_a_day', 'named', 'never'] as const;
export type RetryAdvice = (typeof retryAdvices)[number];

export interface FailureFacts {
  readonly httpStatus?: number;
  readonly code?: number;
  readonly subcode?: number;
  /** The platform's text for people: error_user_msg, else error_data.details, else message. Never logged. */
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
   * Throttled: certainly not accepted, and worth a retry (platform reference, 6.2). HTTP 429 counts whatever the code.
   */
  get throttled(): boolean {
    if (this.kind !== 'refused' || this.isOfPerson) return false;
    return this.facts.httpStatus === 429 || entryOf(this.facts.code)?.kind === 'throttle';
  }

  /** The code if it is known, so that metrics have a bounded set. A throttled call has one of `throttledMetricCodes`. */
  get metricCode(): string {
    const { code } = this.facts;
    const known = entryOf(code);
    if (this.throttled && known?.kind !== 'throttle') return throttledByStatus;
    return code === undefined ? this.kind : String(known?.code ?? 'other');
  }

  get advice(): RefusalAdvice {
    return entryOf(this.facts.code)?.advice ?? 'no';
  }

  /** How soon to retry; undefined when the code's row has no pace. */
  get pace(): CodePace | undefined {
    return codePaceOf(this.facts.code);
  }

  /**
   * Whether the answer proves that nothing was done. Codes 1, 2, 131000, 131016 and 133004 never prove it. At HTTP 500
   * only 131057 (maintenance) and 131045 (a hold with its own status) do.
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
  /** What the code holds when a receipt drops a message that the platform had held back (platform reference, 2.10). */
  readonly holdsWhenDropped?: HoldKind;
  readonly retry: RetryAdvice;
}

const entries = new Map<number | string, CodeEntry>(
  errorCodes.flatMap((entry) => (entry.kind === 'template_mgmt' ? [] : [[entry.code, entry as CodeEntry]])),
);

/** HTTP 429 with a code that is no throttle, or without one. */
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
