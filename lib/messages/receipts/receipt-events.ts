import { isUserId } from '../../platform/user-id.ts';
import type { EventType, ServiceEvent } from '../../webhooks/event.ts';
import { aboutDispatch, type DispatchHead, messageIdOf } from '../dispatch/head.ts';
import { receiptGroupOf } from '../dispatch/items.ts';
import { messageEvent } from '../send/message-event.ts';
import { foldReceipts, type Proof, proofOf } from './fold-receipts.ts';
import type { Receipt } from './receipt.ts';
import type { ReceiptPorts, ReceiptsOfDispatch } from './receipt-ports.ts';

type EventPorts = Pick<ReceiptPorts, 'records' | 'addressesOf' | 'wanted' | 'nowMs'>;

const typeOfProof = {
  sent: 'message.sent',
  delivered: 'message.delivered',
  read: 'message.read',
  failed: 'message.failed',
} as const satisfies { readonly [Each in Proof]?: EventType };

interface Tellable {
  readonly type: (typeof typeOfProof)[keyof typeof typeOfProof] | 'message.resolved';
  readonly head: DispatchHead;
  readonly receipt: Receipt;
  readonly timestampMs: number;
}

/** Returns the keys of the events that a receipt may cause. */
export function eventKeysOf(receipt: Receipt): string[] {
  const proof = proofOf(receipt);
  const types = proof === 'taken' ? [] : [typeOfProof[proof]];
  return ['message.resolved' as const, ...types].map((type) => eventKeyOf(type, receipt));
}

function eventKeyOf(type: Tellable['type'], receipt: Receipt): string {
  return `${type} ${messageIdOf(receipt)}`;
}

/**
 * Returns the events that clients subscribe to, by key (`eventKeysOf`), each once (D41). `resolved` has the
 * time of the try that ended `unknown`, by message id. Reads addresses only for these events.
 */
export async function eventsOfReceipts(
  dispatches: readonly ReceiptsOfDispatch[],
  resolved: ReadonlyMap<string, number>,
  ports: EventPorts,
): Promise<ReadonlyMap<string, ServiceEvent>> {
  const tellable = (await Promise.all(dispatches.map((dispatch) => tellableOf(dispatch, resolved, ports)))).flat();
  if (tellable.length === 0) return new Map();
  const messages = new Map(
    tellable.map(({ receipt }) => [messageIdOf(receipt), { dispatchId: receipt.dispatchId, index: receipt.index }]),
  );
  const addresses = await ports.addressesOf([...messages.values()]);
  return new Map(
    tellable.map((each) => [
      eventKeyOf(each.type, each.receipt),
      eventOf(each, addresses.get(messageIdOf(each.receipt))),
    ]),
  );
}

async function tellableOf(
  { head, receipts }: ReceiptsOfDispatch,
  resolved: ReadonlyMap<string, number>,
  ports: EventPorts,
): Promise<Tellable[]> {
  const wanted = await ports.wanted(head.clientId);
  // A failure is emitted only if all receipts of its message together prove it.
  const failed = wanted.has('message.failed') ? await failedOf(head, receipts, ports) : new Map<number, Receipt>();
  return receipts.flatMap((receipt): Tellable[] => {
    const told = resolvedBy(receipt);
    const proof = proofOf(receipt);
    const deciding = proof === 'failed' ? failed.get(receipt.index) : receipt;
    if (proof === 'taken' || deciding === undefined || !wanted.has(typeOfProof[proof])) return told;
    const timestampMs = timeOf(deciding, head, ports.nowMs());
    return [...told, { type: typeOfProof[proof], head, receipt: deciding, timestampMs }];
  });

  /** The time of `message.unknown` is that of its try (D29), so this one is later, whichever is queued first. */
  function resolvedBy(receipt: Receipt): Tellable[] {
    const triedAtMs = resolved.get(messageIdOf(receipt));
    if (triedAtMs === undefined || !wanted.has('message.resolved')) return [];
    const timestampMs = Math.max(timeOf(receipt, head, ports.nowMs()), triedAtMs + 1);
    return [{ type: 'message.resolved', head, receipt, timestampMs }];
  }
}

/** Returns the deciding receipts of messages that failed by all known receipts, among those with a failure here. */
async function failedOf(
  { dispatchId }: DispatchHead,
  receipts: readonly Receipt[],
  { records }: EventPorts,
): Promise<ReadonlyMap<number, Receipt>> {
  const indexes = new Set(receipts.filter((each) => proofOf(each) === 'failed').map(({ index }) => index));
  const groups = [...new Set([...indexes].map(receiptGroupOf))];
  const known = (await Promise.all(groups.map((group) => records.ofGroup(dispatchId, group)))).flat();
  const ofMessages = Map.groupBy(
    known.filter(({ index }) => indexes.has(index)),
    ({ index }) => index,
  );
  return new Map(
    [...ofMessages].flatMap(([index, all]): [number, Receipt][] => {
      const proven = foldReceipts(all);
      if (proven?.proof !== 'failed') return [];
      const { receipt, userId, waId } = proven;
      return [[index, { ...receipt, userId: userId ?? receipt.userId, waId: waId ?? receipt.waId }]];
    }),
  );
}

/** Corrects the platform's clock: nothing happens to a message before its acceptance or in the future. */
function timeOf({ atMs }: Receipt, { acceptedAtMs }: DispatchHead, nowMs: number): number {
  return Math.min(Math.max(atMs, acceptedAtMs), Math.max(nowMs, acceptedAtMs));
}

function eventOf({ type, head, receipt, timestampMs }: Tellable, to: string | undefined): ServiceEvent {
  const { dispatchId, clientId, acceptedAtMs, correlationId } = head;
  const { index, platformMessageId, code, reason, pricing, userId } = receipt;
  const message = { dispatchId, index, clientId, acceptedAtMs, about: aboutDispatch(head), to };
  const failure = type === 'message.failed' ? { code, reason } : {};
  const price = type === 'message.resolved' || type === 'message.failed' ? {} : { pricing };
  const person = { userId, waId: isUserId(to) ? receipt.waId : undefined };
  const facts = { timestampMs, platformMessageId, ...failure, ...price, ...person };
  const event = messageEvent(type, message, facts);
  return { ...event, correlationId };
}
