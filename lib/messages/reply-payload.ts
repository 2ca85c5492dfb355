import { present } from '../keys/present.ts';

/** Where a quick reply stands: its place among all buttons of the template, or of a card of the carousel, from 0. */
export interface QuickReplyPlace {
  readonly button: number;
  readonly card?: number;
}

/** The message whose quick reply was tapped, and which of them. */
export interface RepliedMessage {
  readonly jobId: string;
  readonly index: number;
  readonly place: QuickReplyPlace;
}

/** Version 1: `tm1:<dispatch id>:<button>`, of a card `tm1:<dispatch id>:<card>.<button>`. At most 42 characters of the 128 that are safe. */
const payloadPattern = /^tm1:([0-9A-Z]{26})-(0|[1-9]\d{0,4}):(?:(0|[1-9]\d?)\.)?(0|[1-9]\d?)$/;

/** What the platform tells when that quick reply of that message is tapped (D55; platform reference, 4.2 and 10.5). */
export function replyPayload(dispatchId: string, { card, button }: QuickReplyPlace): string {
  return `tm1:${dispatchId}:${card === undefined ? '' : `${card}.`}${button}`;
}

/**
 * The inverse; undefined for all that `replyPayload` does not write. It says whom the sender meant, not that the sender was this
 * service: another app of the number can send any payload, so the message is to be compared with its job.
 */
export function repliedMessageOf(payload: string | undefined): RepliedMessage | undefined {
  const [, jobId, index, card, button] = payloadPattern.exec(payload ?? '') ?? [];
  if (jobId === undefined) return undefined;
  const place = { button: Number(button), ...present({ card: card === undefined ? undefined : Number(card) }) };
  return { jobId, index: Number(index), place };
}
