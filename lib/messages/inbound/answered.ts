import type { Reply } from '../../platform/webhook/person-words.ts';
import type { JobHead } from '../job.ts';

/** The message that a person answered. */
export interface Answered {
  readonly head: JobHead;
  readonly index: number;
}

/** Which message a reply to that number answers; undefined where nothing tells. */
export type FindAnswered = (
  reply: Reply,
  number: { readonly wabaId: string; readonly phoneNumberId: string },
) => Promise<Answered | undefined>;
