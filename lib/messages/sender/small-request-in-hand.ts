import { type ComposePorts, composedRecipient } from '../accept/composed-recipient.ts';
import { type CallFacts, callFactsOf, type TriedRecipient } from '../dispatch/call-facts.ts';
import type { DispatchItemState } from '../dispatch/item.ts';
import type { SmallRequest } from '../dispatch/small-request-message.ts';
import type { TriedDispatch } from './dispatch-in-hand.ts';

/** A small request as its queue message has brought it, for the one try of its worker. */
export class SmallRequestInHand implements TriedDispatch {
  state: DispatchItemState = {};
  /** What its messages are called with: it is the whole dispatch, so its end is told with its endings (D41). */
  readonly facts: CallFacts;
  readonly request: SmallRequest;

  constructor(request: SmallRequest) {
    const { head, limitPerSecond } = request;
    this.request = request;
    this.facts = { ...callFactsOf(head, { limitPerSecond }), alone: true };
  }

  get dispatchId(): string {
    return this.request.head.dispatchId;
  }

  /** All of it is its first slice. */
  sizeOf(slice: number): number {
    return slice === 0 ? this.request.head.total : 0;
  }

  /** Returns the recipients by place, composed. */
  recipients(ports: ComposePorts): ReadonlyMap<number, TriedRecipient> {
    const { plan, recipients } = this.request;
    const { dispatchId } = this;
    return new Map(
      recipients.map((recipient, index) => [index, composedRecipient(plan, recipient, { dispatchId, index }, ports)]),
    );
  }
}
