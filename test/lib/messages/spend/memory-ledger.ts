import type { DispatchReservation } from '../../../../lib/messages/budget/budgets.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import type { Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { addressesOfItem, packedAddresses } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { addressesWithout } from '../../../../lib/messages/erase/anonymized-items.ts';
import { foldReceipts, type Proven } from '../../../../lib/messages/receipts/fold-receipts.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { anonymizedReceipt } from '../../../../lib/messages/receipts/receipt-items.ts';
import type { DescribedDispatch } from '../../../../lib/messages/report/described-dispatch.ts';
import type { SpendLedger } from '../../../../lib/messages/spend/count-dispatches.ts';
import type { CountStep } from '../../../../lib/messages/spend/count-step.ts';
import type { DaySums } from '../../../../lib/messages/spend/spend.ts';
import type { Statement } from '../../../../lib/messages/spend/statement.ts';

interface StoredDispatch {
  readonly head: DispatchHead;
  readonly described: Pick<DescribedDispatch, 'recipients' | 'erasedMarkets'>;
  readonly receipts: Receipt[];
  readonly state?: DispatchItemState;
  readonly reserved?: DispatchReservation;
}

/** A transaction is atomic and has the store's conditions. */
export class MemoryLedger implements SpendLedger {
  readonly dispatches = new Map<string, StoredDispatch>();
  /** These are of the one dispatch that has some. */
  readonly slices = new Map<number, Slice>();
  readonly statements = new Map<string, Statement>();
  readonly sums = new Map<string, Map<string, number>>();
  readonly months = new Map<string, number>();

  add(head: DispatchHead, to: readonly string[], more: Pick<StoredDispatch, 'state' | 'reserved'> = {}): void {
    this.dispatches.set(head.dispatchId, {
      head,
      described: { recipients: new Map(to.entries()) },
      receipts: [],
      ...more,
    });
  }

  /** Erases recipients as the command does (D60). */
  erase(dispatchId: string, indexes: ReadonlySet<number>): void {
    const dispatch = this.dispatches.get(dispatchId);
    if (dispatch === undefined) return;
    const { recipients, erasedMarkets = new Map<number, string>() } = dispatch.described;
    const known = Array.from({ length: dispatch.head.total }, (_, index) => {
      return recipients.get(index) ?? { market: erasedMarkets.get(index) ?? '' };
    });
    const before = { firstIndex: 0, recipients: packedAddresses(known) };
    const { addresses, erased } = addressesOfItem({ ...before, ...addressesWithout(before, indexes) });
    const described = { recipients: new Map(addresses), erasedMarkets: new Map(erased) };
    const receipts = dispatch.receipts.map((each) => (indexes.has(each.index) ? anonymizedReceipt(each) : each));
    this.dispatches.set(dispatchId, { ...dispatch, described, receipts });
  }

  async read(dispatchId: string) {
    const dispatch = this.dispatches.get(dispatchId);
    if (dispatch === undefined) return undefined;
    const { head, described, state = {}, reserved } = dispatch;
    const known = { head, repeats: [], ...described, ...state, reserved };
    return { dispatch: known, statement: this.statements.get(dispatchId) };
  }

  async readMessages({ dispatchId }: DispatchHead) {
    const proofs = new Map<number, Proven>();
    for (const [index, receipts] of Map.groupBy(
      this.dispatches.get(dispatchId)?.receipts ?? [],
      (each) => each.index,
    )) {
      const proven = foldReceipts(receipts);
      if (proven !== undefined) proofs.set(index, proven);
    }
    return { slices: this.slices, proofs, askedAtMs: 0 };
  }

  async write({ stated, days, months }: CountStep) {
    if (stated.some(({ head, before }) => this.statements.get(head.dispatchId)?.version !== before)) return false;
    for (const { head, statement } of stated) this.statements.set(head.dispatchId, statement);
    for (const [day, sums] of days) {
      const known = this.sums.get(day) ?? new Map<string, number>();
      this.sums.set(day, known);
      for (const [attribute, by] of sums) known.set(attribute, (known.get(attribute) ?? 0) + by);
    }
    for (const [month, by] of months) this.months.set(month, (this.months.get(month) ?? 0) + by);
    return true;
  }

  days(): DaySums[] {
    return [...this.sums].map(([day, sums]) => ({ day, sums: Object.fromEntries(sums) }));
  }
}
