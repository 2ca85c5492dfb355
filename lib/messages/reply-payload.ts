/** A quick reply has an index among the buttons of the template, or of a carousel card; both count from 0. */
export interface QuickReplyPlace {
  readonly button: number;
  readonly card?: number;
}

export interface RepliedMessage {
  readonly dispatchId: string;
  readonly index: number;
  readonly place: QuickReplyPlace;
}

/**
 * Version 1 is `tm1:<message id>:<button>`, on a card `tm1:<message id>:<card>.<button>`: at most 42 of the 128 safe
 * characters.
 */
const payloadPattern = /^tm1:([0-9A-Z]{26})-(0|[1-9]\d{0,4}):(?:(0|[1-9]\d?)\.)?(0|[1-9]\d?)$/;

/**
 * Returns the payload that the platform returns when the quick reply is tapped (D55; platform reference, 4.2 and 10.5).
 */
export function replyPayload(messageId: string, { card, button }: QuickReplyPlace): string {
  return `tm1:${messageId}:${card === undefined ? '' : `${card}.`}${button}`;
}

/**
 * Inverts `replyPayload`; returns undefined for any other text. Another app of the number can send any payload, so
 * callers compare the message with its dispatch.
 */
export function repliedMessageOf(payload: string | undefined): RepliedMessage | undefined {
  const [, dispatchId, index, card, button] = payloadPattern.exec(payload ?? '') ?? [];
  if (dispatchId === undefined) return undefined;
  const place = { button: Number(button), card: card === undefined ? undefined : Number(card) };
  return { dispatchId, index: Number(index), place };
}
