import type { Pricing, Receipt } from './receipt.ts';

/** Receipts prove these of a message, in ascending order. A delivery overrules `failed` (D39). */
export const proofs = ['taken', 'sent', 'failed', 'delivered', 'read'] as const;
export type Proof = (typeof proofs)[number];

/** All receipts of a message prove this together, with the latest ids of the person. */
export interface Proven extends Pick<Receipt, 'userId' | 'waId'> {
  readonly proof: Proof;
  readonly receipt: Receipt;
  /** The delivery is billed (D58): its own receipt dates it, else the first receipt that proves reading. */
  readonly deliveredAtMs?: number;
  /** Pricing comes from the delivery receipt if possible, else from the furthest other one. */
  readonly pricing?: Pricing;
}

/** A played voice message was read. An unknown status still proves that the platform took the message. */
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
 * Returns the furthest proof of a message's receipts, by its earliest receipt, in any order. Text decides between
 * different receipts of one moment, so that all readers agree.
 */
export function foldReceipts(receipts: Iterable<Receipt>): Proven | undefined {
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
    userId: named.userId?.userId,
    waId: named.waId?.waId,
    deliveredAtMs: deliveredAtMs.delivered ?? deliveredAtMs.read,
    pricing: priced?.receipt.pricing,
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
