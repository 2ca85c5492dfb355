import type { DispatchHead, MessageKey } from '../dispatch/head.ts';
import { repliedMessageOf } from '../reply-payload.ts';
import type { FindRepliedTo } from './reply-ports.ts';
import type { FindSentId } from './sent-ids.ts';

/** Both reads reject when the store cannot be reached. */
export interface RepliedToPorts {
  readonly findSentId: FindSentId;
  /** Returns heads by dispatch id, without missing dispatches, strongly consistent. */
  readonly findHeads: (dispatchIds: readonly string[]) => Promise<ReadonlyMap<string, DispatchHead | 'unreadable'>>;
}

/**
 * Finds the message that a reply answers: by the payload of its quick reply, else by the platform's message id (D55).
 */
export function repliedToFinder({ findSentId, findHeads }: RepliedToPorts): FindRepliedTo {
  return async ({ by, payload, toMessageId }, number) => {
    const tapped = by === 'quick_reply' ? repliedMessageOf(payload) : undefined;
    const byPayload = tapped && (await answered(tapped, number));
    if (byPayload !== undefined || toMessageId === undefined) return byPayload;
    const sent = await findSentId({ ...number, platformMessageId: toMessageId });
    return sent && (await answered(sent, number));
  };

  async function answered({ dispatchId, index }: MessageKey, { wabaId, phoneNumberId }: Parameters<FindRepliedTo>[1]) {
    const head = (await findHeads([dispatchId])).get(dispatchId);
    if (head === undefined || head === 'unreadable') return undefined;
    // Other apps of the number can send any payload: the dispatch must belong to the number and contain the message.
    const isOfNumber = head.wabaId === wabaId && head.phoneNumberId === phoneNumberId;
    return isOfNumber && index < head.total ? { head, index } : undefined;
  }
}
