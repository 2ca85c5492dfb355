import { claimed, ended, type Slice } from '../../../../lib/messages/dispatch/slice.ts';
import type { Receipt, ReceiptMessage } from '../../../../lib/messages/receipts/receipt.ts';
import { type EventType, eventTypes } from '../../../../lib/webhooks/event.ts';
import { ReceiptWorld } from '../../../support/receipt-world.ts';
import { scenarioHead as head, startMs } from '../../../support/scenario-dispatch.ts';

export type Fact = Partial<Receipt> & { readonly status: string };

export function queued(
  receipts: readonly Fact[],
  { messageId = 'message-0', ...number }: { messageId?: string; wabaId?: string; phoneNumberId?: string } = {},
) {
  const whole = receipts.map((fact): Receipt => {
    const { dispatchId } = head;
    return { dispatchId, index: 0, atMs: startMs + 5_000, platformMessageId: 'wamid.1', ...fact };
  });
  const { wabaId, phoneNumberId } = head;
  const body: ReceiptMessage = { version: 1, numbers: [{ wabaId, phoneNumberId, ...number, receipts: whole }] };
  return { messageId, body: JSON.stringify(body) };
}

/** The world is a day later than the scenario's dispatch. */
export function world(): ReceiptWorld {
  const made = new ReceiptWorld();
  made.nowMs = startMs + 86_400_000;
  return made;
}

export const everything = async () => new Set(eventTypes as EventType[]);

/** Ends a slice of the dispatch with these outcomes, from its first place on. */
export function sliceOf(outcomes: readonly Slice['outcomes'][number][], changes: Partial<Slice> = {}): Slice {
  const claim = { key: { dispatchId: 'J', slice: 0 }, try: 0, owner: 'run-1', atMs: startMs, size: outcomes.length };
  return { ...ended(claimed(undefined, claim), new Map()), outcomes, ...changes };
}
