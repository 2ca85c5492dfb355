import { errorName } from '../../observe/error-name.ts';
import type { ChunkRecipient } from '../dispatch/chunk.ts';
import type { Outcome } from '../dispatch/slice.ts';
import { holdableOf } from '../holds/held-dispatch.ts';
import { isNowMarketing } from '../holds/hold.ts';
import { canonicalAddress } from '../request/recipient-address.ts';
import { excludedIn } from '../send/excluded-recipients.ts';
import type { DispatchInHand } from './dispatch-in-hand.ts';
import type { NumberView } from './number-view.ts';
import type { SenderPorts } from './sender-ports.ts';

/** Looks, after the claim of a slice, at what must keep its recipients from being called (D42, D46, D53, D55, D60). */
export class SliceLookout {
  /** These recipients end so, by place. */
  barred: ReadonlyMap<number, Outcome> = new Map();
  /** The last look began then. */
  lookedMs = 0;
  readonly #hand: DispatchInHand;
  readonly #recipients: ReadonlyMap<number, ChunkRecipient>;
  readonly #number: NumberView;
  readonly #ports: SenderPorts;
  #looking: Promise<void> | undefined;

  constructor(
    hand: DispatchInHand,
    recipients: ReadonlyMap<number, ChunkRecipient>,
    { number, ports }: { readonly number: NumberView; readonly ports: SenderPorts },
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
      this.#hand.state = seen.dispatches.get(dispatchId) ?? {};
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
