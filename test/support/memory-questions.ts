import type { Refusal } from '../../lib/http/refusal.ts';
import { askAgainAfterMs, type Questions, questionsPerMinute } from '../../lib/messages/resolve/questions.ts';

/** Questions in memory, as in the messages table; `question-store.test.ts` compares the two. */
export class MemoryQuestions implements Questions {
  readonly open = new Map<string, { askerId?: string; refusal?: Refusal; askedAtMs: number }>();
  turns = 0;

  claim: Questions['claim'] = async (question, { askerId, nowMs, changedAtMs }) => {
    const found = this.open.get(question);
    if (found === undefined || found.askedAtMs <= Math.max(nowMs - askAgainAfterMs, changedAtMs - 1)) {
      this.open.set(question, { askerId, askedAtMs: nowMs });
      return { state: 'ours' };
    }
    return found.refusal === undefined ? { state: 'asked' } : { state: 'refused', refusal: found.refusal };
  };

  keep: Questions['keep'] = async (question, refusal, askedAtMs) => {
    this.open.set(question, { refusal, askedAtMs });
  };

  release: Questions['release'] = async (question, askerId) => {
    if (this.open.get(question)?.askerId === askerId) this.open.delete(question);
  };

  takeTurn: Questions['takeTurn'] = async () => {
    this.turns += 1;
    return this.turns > questionsPerMinute ? 7_000 : undefined;
  };
}
