import { aboutDispatch, type DispatchHead, type MessageRequest } from './head.ts';
import type { Lot } from './lots.ts';

/** A recipient of a try, composed. Its message id is `<dispatchId>-<index>`. */
export interface TriedRecipient {
  readonly index: number;
  /** The address is absent once the operator has erased the person (D60). */
  readonly to?: string | undefined;
  /** The request is absent when it cannot be composed: the message then fails (R14). */
  readonly request?: MessageRequest | undefined;
  /** The template has changed and the parameters no longer fit: there is no request (D56). */
  readonly unfit?: true | undefined;
  /** The platform has answered once that it has no such template (132001). */
  readonly notThere?: true | undefined;
  /** This many tries provably sent nothing, by what each waited for (pace/retry-delay.ts). */
  readonly attempts?: Readonly<Record<string, number>> | undefined;
  /** The platform's pair rate, or a wait of the message's own, forbids an earlier call. */
  readonly notBeforeMs?: number | undefined;
}

/** A call needs these facts of the head (D38, D55). */
type FactsOfHead = Pick<
  DispatchHead,
  | ('dispatchId' | 'clientId' | 'wabaId' | 'phoneNumberId' | 'credential' | 'path' | 'category')
  | ('acceptedAtMs' | 'expiresAtMs' | 'keptUntilMs' | 'correlationId' | 'receiptsExpected' | 'heedsOptOuts' | 'urgent')
>;

/** What the messages of a dispatch are called with, and told of. */
export interface CallFacts extends FactsOfHead {
  /** A scheduled send has lots, with the openings that remain (D56). */
  readonly lots?: readonly Lot[] | undefined;
  readonly about: ReturnType<typeof aboutDispatch>;
  /** A try is of the whole dispatch, so its end is the end of the dispatch (D41). */
  readonly alone?: true | undefined;
  readonly limitPerSecond: number;
  /** The messages were last judged and composed then; by default at acceptance (D46, D56). */
  readonly composedMs?: number | undefined;
}

/** SQS bills a larger message as several. */
export const mostSmallRequestBytes = 200_000;

/** The platform last reported `limitPerSecond` for the number. */
export function callFactsOf(head: DispatchHead, { limitPerSecond }: Pick<CallFacts, 'limitPerSecond'>): CallFacts {
  const { dispatchId, clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs } = head;
  const { expiresAtMs, keptUntilMs, correlationId, receiptsExpected, heedsOptOuts, urgent } = head;
  return {
    ...{ dispatchId, clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs, limitPerSecond },
    expiresAtMs,
    keptUntilMs,
    correlationId,
    receiptsExpected,
    heedsOptOuts,
    urgent,
    about: aboutDispatch(head),
  };
}

// A small request has no entry in the backlog and no stored parameters: acceptance queues all of it.

// Acceptance writes `head` and `to` once the queue has confirmed, or the worker after its claim. A withdrawal competes
// for slice 0.

/** A request of so many recipients is one slice. */
export const straightRecipients = 10;
