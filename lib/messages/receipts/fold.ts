import type { Receipt } from './receipt.ts';

/** What receipts prove of one message, each further than the one before; `failed` gives way to what was delivered (D39). */
export const proofs = ['taken', 'sent', 'failed', 'delivered', 'read'] as const;
export type Proof = (typeof proofs)[number];

/** What all receipts of one message say together: the word of the receipt that decides. */
export interface Proven {
  readonly proof: Proof;
  readonly receipt: Receipt;
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
  let proven: Proven | undefined;
  for (const receipt of receipts) {
    const next = { proof: proofOf(receipt), receipt };
    if (proven === undefined || decides(next, proven)) proven = next;
  }
  return proven;
}

function decides(next: Proven, known: Proven): boolean {
  const further = proofs.indexOf(next.proof) - proofs.indexOf(known.proof);
  if (further !== 0) return further > 0;
  if (next.receipt.atMs !== known.receipt.atMs) return next.receipt.atMs < known.receipt.atMs;
  return textOf(next.receipt) < textOf(known.receipt);
}

function textOf({ platformMessageId, status, code, reason, pricing }: Receipt): string {
  return JSON.stringify([platformMessageId, status, code, reason, pricing]);
}
