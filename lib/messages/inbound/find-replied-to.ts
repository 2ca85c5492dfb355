import type { JobHead } from '../job.ts';
import { repliedMessageOf } from '../reply-payload.ts';
import type { FindRepliedTo } from './reply-ports.ts';
import type { FindSentId, SentMessage } from './sent-ids.ts';

/** Both reads reject when the store cannot be reached. */
export interface RepliedToPorts {
  readonly findSentId: FindSentId;
  /** Returns heads by job id, without missing jobs, strongly consistent. */
  readonly findHeads: (jobIds: readonly string[]) => Promise<ReadonlyMap<string, JobHead | 'unreadable'>>;
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

  async function answered({ jobId, index }: SentMessage, { wabaId, phoneNumberId }: Parameters<FindRepliedTo>[1]) {
    const head = (await findHeads([jobId])).get(jobId);
    if (head === undefined || head === 'unreadable') return undefined;
    // Other apps of the number can send any payload: the job must belong to the number and contain the message.
    const isOfNumber = head.wabaId === wabaId && head.phoneNumberId === phoneNumberId;
    return isOfNumber && index < head.total ? { head, index } : undefined;
  }
}
