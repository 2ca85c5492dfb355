import { present } from '../../keys/present.ts';
import type { Pricing, Receipt } from './receipt.ts';

/** What receipts prove of one message, each further than the one before; `failed` gives way to what was delivered (D39). */
export const proofs = ['taken', 'sent', 'failed', 'delivered', 'read'] as const;
export type Proof = (typeof proofs)[number];

/** What all receipts of one message say together: the word of the receipt that decides, and how the person was named last. */
export interface Proven extends Pick<Receipt, 'userId' | 'waId'> {
  readonly proof: Proof;
  readonly receipt: Receipt;
  /** When it was delivered, which is what is billed (D58): told as such, else by the first proof that it was read. */
  readonly deliveredAtMs?: number;
  /** The platform's word on its price: told with its delivery, else as late as possible. */
  readonly pricing?: Pricing;
}

/** A voice message that was played was read; a status that nobody knows still proves that the platform took the message. */
const proofOfStatus: Readonly<Record<string, Proof>> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  played: 'read',
  failed: 'failed',
};

export function proofOf({ status }: Pick<Receipt, 'status'>): Proof {
  return Object.hasOwn(proofOfStatus, status) ? (proofOfStatus[status] as Proof) : 'taken';
}

/**
 * What receipts of one message prove, in whatever order, number and completeness they came: the furthest proof, by its
 * earliest receipt. Receipts of the same moment that differ are told apart by their text, so that every reader of the same
 * receipts sees the same. Undefined without a receipt.
 */
export function fold(receipts: Iterable<Receipt>): Proven | undefined {
  let proven: Deciding | undefined;
  let priced: Deciding | undefined;
  const deliveredAtMs: Partial<Record<Proof, number>> = {};
  const named: Partial<Record<'userId' | 'waId', Receipt>> = {};
  for (const receipt of receipts) {
    const next = { proof: proofOf(receipt), receipt };
    if (proven === undefined || decides(next, proven)) proven = next;
    if (receipt.pricing !== undefined && (priced === undefined || prices(next, priced))) priced = next;
    const { proof } = next;
    deliveredAtMs[proof] = Math.min(deliveredAtMs[proof] ?? receipt.atMs, receipt.atMs);
    for (const id of ['userId', 'waId'] as const) {
      if (receipt[id] !== undefined && isLater(receipt, named[id], id)) named[id] = receipt;
    }
  }
  if (proven === undefined) return undefined;
  return {
    ...proven,
    ...present({ userId: named.userId?.userId, waId: named.waId?.waId }),
    ...present({ deliveredAtMs: deliveredAtMs.delivered ?? deliveredAtMs.read, pricing: priced?.receipt.pricing }),
  };
}

interface Deciding {
  readonly proof: Proof;
  readonly receipt: Receipt;
}

function isLater(receipt: Receipt, known: Receipt | undefined, id: 'userId' | 'waId'): boolean {
  if (known === undefined || receipt.atMs !== known.atMs) return known === undefined || receipt.atMs > known.atMs;
  return String(receipt[id]) > String(known[id]);
}

function decides(next: Deciding, known: Deciding): boolean {
  const further = proofs.indexOf(next.proof) - proofs.indexOf(known.proof);
  if (further !== 0) return further > 0;
  if (next.receipt.atMs !== known.receipt.atMs) return next.receipt.atMs < known.receipt.atMs;
  return textOf(next.receipt) < textOf(known.receipt);
}

function prices(next: Deciding, known: Deciding): boolean {
  if (next.proof === known.proof) return decides(next, known);
  return next.proof === 'delivered' || (known.proof !== 'delivered' && decides(next, known));
}

function textOf({ platformMessageId, status, code, reason, pricing, userId, waId }: Receipt): string {
  return JSON.stringify([platformMessageId, status, code, reason, pricing, userId, waId]);
}
