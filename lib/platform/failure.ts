import errorCodes from './error-codes.json' with { type: 'json' };

/**
 * What is known about a platform call that did not succeed:
 * - `not_sent`: no byte of the request left this machine (name not found, connection refused, TLS handshake failed).
 * - `refused`: the platform answered with an error of its own below HTTP 500; nothing was done.
 * - `ambiguous`: a time-out or reset after bytes went out, HTTP 5xx, or an answer that is not the platform's JSON.
 *   The platform may or may not have acted; it has no idempotency key, so a paid call is never repeated after it.
 */
export type FailureKind = 'not_sent' | 'refused' | 'ambiguous';

/**
 * How to treat a refusal, by the platform's error code (lib/platform/error-codes.json, one row per code):
 * - `no`: it stands, whoever asks again.
 * - `auth`: our credential or its rights; an operator's matter.
 * - `backoff`: trouble of the platform's own, which passes; whether it acted is not known unless the row has a pace.
 * - `later`: refused for now and nothing was done; worth another try at the row's pace.
 */
export const refusalAdvices = ['no', 'auth', 'backoff', 'later'] as const;
export type RefusalAdvice = (typeof refusalAdvices)[number];

/** How a message refused with a code is tried again: what each means in seconds is the sender's policy. */
export const codePaces = ['pair', 'throughput', 'quota', 'restriction', 'maintenance', 'syncing'] as const;
export type CodePace = (typeof codePaces)[number];

/**
 * What a code concerns beyond the message that it refuses (platform reference, 6.4): a WABA, its utility messages, a number, the
 * marketing of a number, what of that leaves on the messages edge, or a template. While the matter lasts, the next message of these
 * is refused as well.
 */
export const holdKinds = ['waba', 'utility', 'number', 'marketing', 'edge', 'template'] as const;
export type HoldKind = (typeof holdKinds)[number];

/**
 * Whom a code concerns that holds nothing (platform reference, 6.5): what was refused alone, the person that it was for, everybody
 * in that person's country, the template, the number, the WABA, all calls with the credential, or the platform itself.
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
 * Whether the cause of a failed message may pass (D57; platform reference, 6.4, 6.5):
 * - `yes`: by itself, or once the business, the platform or an operator has mended it.
 * - `after_a_day`: the platform punishes another try before 24 hours have passed.
 * - `named`: a person or the client must have acted, so only the client can know.
 * - `never`: the same message to the same person fails again, or must not be sent.
 */
export const retryWords = ['yes', 'after_a_day', 'named', 'never'] as const;
export type RetryWord = (typeof retryWords)[number];

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

  /** Throttled: provably not accepted, worth trying again later (platform reference, 6.2; HTTP 429 whatever else the code says). */
  get throttled(): boolean {
    if (this.kind !== 'refused' || this.isOfPerson) return false;
    return this.facts.httpStatus === 429 || entryOf(this.facts.code)?.kind === 'throttle';
  }

  /**
   * The platform's code when it is a known one: of a bounded set, whatever comes, so that it can name a metric. Of what is
   * throttled it is one of `throttledMetricCodes`.
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

  /** How soon to try again after this code; undefined when its row names no pace. */
  get pace(): CodePace | undefined {
    return codePaceOf(this.facts.code);
  }

  /**
   * Whether the answer proves that nothing was done. Codes 1, 2, 131000, 131016, 133004 mean "we do not know either", at any HTTP
   * status. At HTTP 500 no code proves it but those whose own status that is, and that say why: 131057, 131045.
   */
  get provesNothingDone(): boolean {
    if (this.kind === 'refused') return this.advice !== 'backoff' || this.pace === 'maintenance';
    const known = entryOf(this.facts.code);
    return this.pace === 'maintenance' || (known?.holds !== undefined && known.status === this.facts.httpStatus);
  }

  /**
   * The platform has judged the person, or the person's country: another person's message is as good as before, and no status
   * makes another try of this one right (131049 above all).
   */
  get isOfPerson(): boolean {
    const known = entryOf(this.facts.code);
    return known?.advice === 'no' && (known.concerns === 'recipient' || known.concerns === 'country');
  }

  /** Our own credential was refused: an operator's matter, never the client's, and not said by a code about a person. */
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
  /** Either this, which says whom the code concerns as well, or `concerns`. */
  readonly holds?: HoldKind;
  readonly concerns?: Concern;
  /** What it holds when it drops a message that the platform had taken and held back (platform reference, 2.10). */
  readonly holdsWhenDropped?: HoldKind;
  readonly retry: RetryWord;
}

const entries = new Map<number | string, CodeEntry>(
  errorCodes.flatMap((entry) => (entry.kind === 'template_mgmt' ? [] : [[entry.code, entry as CodeEntry]])),
);

/** HTTP 429 with a code of something else, or none. */
const throttledByStatus = 'throttled';

/** Under which of its codes a throttled call is counted. */
export const throttledMetricCodes: readonly string[] = [
  ...[...entries.values()].filter(({ kind }) => kind === 'throttle').map(({ code }) => String(code)),
  throttledByStatus,
];

/** How soon to try again after a code of the platform's; undefined when its row names no pace. */
export function codePaceOf(code: number | undefined): CodePace | undefined {
  return entryOf(code)?.pace;
}

/** What a refusal with a code of the platform's holds; undefined when it holds nothing. */
export function holdKindOf(code: number | undefined): HoldKind | undefined {
  return entryOf(code)?.holds;
}

/** The same of a receipt that drops a message which the platform had taken and held back: what else its code may hold. */
export function dropKindOf(code: number | undefined): HoldKind | undefined {
  return entryOf(code)?.holdsWhenDropped;
}

/** Whether the cause of a message that failed with a code of the platform's may pass; undefined for an unknown code. */
export function retryWordOf(code: number): RetryWord | undefined {
  return entryOf(code)?.retry;
}

function entryOf(code: number | undefined): CodeEntry | undefined {
  if (code === undefined) return undefined;
  return entries.get(code) ?? (code >= 200 && code <= 299 ? entries.get('200-299') : undefined);
}
