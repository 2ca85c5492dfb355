import { Refusal } from '../../http/refusal.ts';
import { log } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import { PlatformFailure } from '../../platform/failure.ts';
import { refusalOf } from '../../platform/refusals.ts';

/** The same question is put to the platform once in this time, by whoever comes first (D23). */
export const askAgainAfterMs = 10_000;

/** So many questions a minute for each client: the platform's quota belongs to all clients of the WABA (D23). */
export const questionsPerMinute = 30;

export interface Asker {
  readonly clientId: number;
  /** Unlike that of any other request. */
  readonly askerId: string;
}

/** What became of a question that was claimed: it is ours to ask, somebody else is asking, or it was answered with a no. */
export type Claimed = { readonly state: 'ours' | 'asked' } | { readonly state: 'refused'; readonly refusal: Refusal };

export interface Asking {
  readonly askerId: string;
  readonly nowMs: number;
  readonly changedAtMs: number;
}

/** What was asked and answered a moment ago, whichever instance of the function did it. */
export interface Questions {
  /** Claims a question that nobody has asked in the last 10 s, or since what is stored of the matter was changed. */
  claim(question: string, asking: Asking): Promise<Claimed>;
  /** Remembers a no for what is left of the 10 s since it was asked. */
  keep(question: string, refusal: Refusal, askedAtMs: number): Promise<void>;
  /** Lets others ask at once. */
  release(question: string, askerId: string): Promise<void>;
  /** Counts one question of the client; returns how long it must wait when it has had its 30 of this minute. */
  takeTurn(clientId: number, nowMs: number): Promise<number | undefined>;
}

export interface QuestionPorts {
  readonly questions: Questions;
  readonly nowMs: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

export interface Question<Answer> {
  /** Two questions with one name are the same. */
  readonly name: string;
  /** The answer by what is stored, undefined when that would be a no. */
  readonly known: () => Promise<Answer | undefined>;
  /** When what is stored was changed, or read from the platform: an answer from before says nothing any more. */
  readonly changedAtMs?: () => number;
  /** Asks the platform and stores its answer. Throws `PlatformFailure`, and refuses when the answer is no. */
  readonly ask: (askedAtMs: number) => Promise<Answer>;
}

/** How long a request waits for the answer to a question that another one is asking: longer than a call may take. */
export const waits = 12;
export const waitMs = 500;

/**
 * Answers by what is stored, or by the platform: a no never rests on what is stored (D23). The platform is asked once
 * in 10 s for each question and 30 times a minute for each client (429); who comes in between waits, or is told the
 * same. A no and a 429 are remembered, a 502 is not.
 */
export async function askOnce<Answer>(question: Question<Answer>, asker: Asker, ports: QuestionPorts): Promise<Answer> {
  for (let waited = 0; waited <= waits; waited += 1) {
    if (waited > 0) await ports.pause(waitMs);
    const known = await question.known();
    if (known !== undefined) return known;
    const nowMs = ports.nowMs();
    const asking = { askerId: asker.askerId, nowMs, changedAtMs: question.changedAtMs?.() ?? 0 };
    const claim = await ports.questions.claim(question.name, asking);
    if (claim.state === 'refused') throw claim.refusal;
    if (claim.state === 'ours') return await askClaimed(question, { ...asker, askedAtMs: nowMs }, ports.questions);
  }
  throw new Refusal('platform_unreachable', 'the platform could not be reached');
}

async function askClaimed<Answer>(
  { name, ask }: Question<Answer>,
  { clientId, askerId, askedAtMs }: Asker & { readonly askedAtMs: number },
  questions: Questions,
): Promise<Answer> {
  const release = () => tolerated(questions.release(name, askerId));
  const leftMs = await questions.takeTurn(clientId, askedAtMs);
  if (leftMs !== undefined) {
    await release();
    throw tooManyQuestions(leftMs);
  }
  try {
    const answer = await ask(askedAtMs);
    await release();
    return answer;
  } catch (error) {
    const failure = error instanceof PlatformFailure ? error : undefined;
    const refusal = failure === undefined ? error : refusalOf(failure);
    const answered = failure === undefined || failure.throttled;
    if (answered && refusal instanceof Refusal) await tolerated(questions.keep(name, refusal, askedAtMs));
    else await release();
    throw refusal;
  }
}

/** The answer is at hand: that it cannot be remembered is no reason to give another. */
export async function tolerated(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    log('template.answer_not_kept', { error: nameOf(error) });
  }
}

function tooManyQuestions(leftMs: number): Refusal {
  const message = `too many sends of this client name templates that the platform has to be asked about: ${questionsPerMinute} a minute`;
  return new Refusal('platform_rate_limited', message, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(leftMs / 1_000))) },
  });
}
