import { Refusal } from '../../http/refusal.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { refusalOf } from '../../platform/refusals.ts';

/** The same look-up reaches the platform once in this time (D23). */
export const repeatLookupAfterMs = 10_000;

/** Each client has this number of look-ups for itself: all clients of a WABA share the platform's quota (D23). */
export const lookupsPerMinute = 30;

export interface LookupCaller {
  readonly clientId: number;
  /** Each request has an id of its own. */
  readonly askerId: string;
}

/** This request asks, another one asks, or the answer was no. */
export type Claimed = { readonly state: 'ours' | 'asked' } | { readonly state: 'refused'; readonly refusal: Refusal };

export interface LookupClaim {
  readonly askerId: string;
  readonly nowMs: number;
  readonly changedAtMs: number;
}

/** All function instances share recent look-ups. */
export interface Lookups {
  /** Claims a look-up unless it was made within 10 s and since the stored copy changed. */
  claim(question: string, asking: LookupClaim): Promise<Claimed>;
  /** Stores a no for the rest of the 10 s. */
  keep(question: string, refusal: Refusal, askedAtMs: number): Promise<void>;
  release(question: string, askerId: string): Promise<void>;
  /** Counts a look-up of the client; returns the wait if its 30 of this minute are used. */
  takeTurn(clientId: number, nowMs: number): Promise<number | undefined>;
}

export interface LookupPorts {
  readonly questions: Lookups;
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

export interface Lookup<Answer> {
  readonly name: string;
  /** Returns the answer from stored data, or undefined if that would be a no. */
  readonly known: () => Promise<Answer | undefined>;
  /** Returns when the stored data changed or was read: earlier answers are obsolete. */
  readonly changedAtMs?: () => number;
  /** Asks the platform and stores its answer. Throws `PlatformFailure`, and refuses when the answer is no. */
  readonly ask: (askedAtMs: number) => Promise<Answer>;
}

/** A request waits this often for another's answer: longer than a call may take. */
export const waits = 12;
export const waitMs = 500;

/**
 * Answers from stored data or the platform, from which every no comes (D23): once in 10 s per look-up, 30 times a
 * minute per client (429). Caches a no and a 429, not a 502.
 */
export async function lookUpOnce<Answer>(
  question: Lookup<Answer>,
  asker: LookupCaller,
  ports: LookupPorts,
): Promise<Answer> {
  for (let waited = 0; waited <= waits; waited += 1) {
    if (waited > 0) await ports.pause(waitMs);
    const known = await question.known();
    if (known !== undefined) return known;
    const nowMs = ports.nowMs();
    const asking = { askerId: asker.askerId, nowMs, changedAtMs: question.changedAtMs?.() ?? 0 };
    const claim = await ports.questions.claim(question.name, asking);
    if (claim.state === 'refused') throw claim.refusal;
    if (claim.state === 'ours') return await lookUpClaimed(question, { ...asker, askedAtMs: nowMs }, ports.questions);
  }
  throw new Refusal('platform_unreachable', 'the platform could not be reached');
}

async function lookUpClaimed<Answer>(
  { name, ask }: Lookup<Answer>,
  { clientId, askerId, askedAtMs }: LookupCaller & { readonly askedAtMs: number },
  questions: Lookups,
): Promise<Answer> {
  const release = () => ignoringFailure(questions.release(name, askerId));
  const leftMs = await questions.takeTurn(clientId, askedAtMs);
  if (leftMs !== undefined) {
    await release();
    throw tooManyLookups(leftMs);
  }
  try {
    const answer = await ask(askedAtMs);
    await release();
    return answer;
  } catch (error) {
    const failure = error instanceof PlatformFailure ? error : undefined;
    const refusal = failure === undefined ? error : refusalOf(failure);
    const answered = failure === undefined || failure.throttled;
    if (answered && refusal instanceof Refusal) await ignoringFailure(questions.keep(name, refusal, askedAtMs));
    else await release();
    throw refusal;
  }
}

/** A failed cache write does not change the answer. */
export async function ignoringFailure(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    log('template.answer_not_kept', { error: errorName(error) });
  }
}

function tooManyLookups(leftMs: number): Refusal {
  const message = `too many sends of this client name templates that the platform has to be asked about: ${lookupsPerMinute} a minute`;
  return new Refusal('platform_rate_limited', message, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1_000))) },
  });
}
