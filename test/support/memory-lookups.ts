import type { Refusal } from '../../lib/http/refusal.ts';
import { type Lookups, lookupsPerMinute, repeatLookupAfterMs } from '../../lib/messages/resolve/lookups.ts';

/** Questions in memory are as in the messages table; `lookup-store.test.ts` compares the two. */
export class MemoryLookups implements Lookups {
  readonly open = new Map<string, { askerId?: string; refusal?: Refusal; askedAtMs: number }>();
  turns = 0;

  claim: Lookups['claim'] = async (question, { askerId, nowMs, changedAtMs }) => {
    const found = this.open.get(question);
    if (found === undefined || found.askedAtMs <= Math.max(nowMs - repeatLookupAfterMs, changedAtMs - 1)) {
      this.open.set(question, { askerId, askedAtMs: nowMs });
      return { state: 'ours' };
    }
    return found.refusal === undefined ? { state: 'asked' } : { state: 'refused', refusal: found.refusal };
  };

  keep: Lookups['keep'] = async (question, refusal, askedAtMs) => {
    this.open.set(question, { refusal, askedAtMs });
  };

  release: Lookups['release'] = async (question, askerId) => {
    if (this.open.get(question)?.askerId === askerId) this.open.delete(question);
  };

  takeTurn: Lookups['takeTurn'] = async () => {
    this.turns += 1;
    return this.turns > lookupsPerMinute ? 7_000 : undefined;
  };
}
