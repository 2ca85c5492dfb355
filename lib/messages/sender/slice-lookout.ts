import { errorName } from '../../observe/error-name.ts';
import type { TriedRecipient } from '../dispatch/call-facts.ts';
import { joinedState } from '../dispatch/item-state.ts';
import type { Outcome } from '../dispatch/slice.ts';
import { holdableOf } from '../holds/held-dispatch.ts';
import { isNowMarketing } from '../holds/hold.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import { excludedIn } from '../send/excluded-recipients.ts';
import type { TriedDispatch } from './dispatch-in-hand.ts';
import type { NumberView } from './number-view.ts';
import type { SliceTryPorts } from './sender-ports.ts';

/** Looks, after the claim of a slice, at what must keep its recipients from being called (D42, D46, D53, D55, D60). */
export class SliceLookout {
  /** These recipients end so, by place. */
  barred: ReadonlyMap<number, Outcome> = new Map();
  /** The last look began then. */
  lookedMs = 0;
  readonly #hand: TriedDispatch;
  readonly #recipients: ReadonlyMap<number, TriedRecipient>;
  readonly #number: NumberView;
  readonly #ports: SliceTryPorts;
  #looking: Promise<void> | undefined;

  constructor(
    hand: TriedDispatch,
    recipients: ReadonlyMap<number, TriedRecipient>,
    { number, ports }: { readonly number: NumberView; readonly ports: SliceTryPorts },
  ) {
    this.#hand = hand;
    this.#recipients = recipients;
    this.#number = number;
    this.#ports = ports;
  }

  /** Reads dispatch, holds and opt-outs, once for all who ask meanwhile. Rejects when the store cannot be reached. */
  async look(): Promise<void> {
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async #read(): Promise<void> {
    const { facts, dispatchId } = this.#hand;
    const { dispatches, people, process } = this.#ports;
    const atMs = process.nowMs();
    const optOutsOf = facts.heedsOptOuts ? facts : undefined;
    try {
      const seen = await dispatches.look({ wabaId: facts.wabaId, dispatchIds: [dispatchId], optOutsOf });
      this.#number.saw(facts.wabaId, seen.holds);
      this.#hand.state = joinedState(this.#hand.state, seen.dispatches.get(dispatchId) ?? {});
      const isAsked = seen.anyStops || isNowMarketing(seen.holds, holdableOf(facts));
      const recipients = [...this.#recipients.values()];
      const addressees = recipients.flatMap(({ to }) => (to === undefined ? [] : [canonicalAddress(to)]));
      const stopped = isAsked ? new Set((await people.stoppedAmong(facts, addressees)).keys()) : new Set<string>();
      this.barred = excludedIn(recipients, { stopped, erased: this.#hand.state.erased });
      this.lookedMs = atMs;
    } catch (error) {
      process.log('send.dispatch_not_read', { error: errorName(error) });
      throw error;
    }
  }
}
