import type { Waba } from '../wabas.ts';
import type { Template } from './template.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lockMs = 30 * dayMs;
const creationsPerHour = 100;
const editsPerMonth = 10;
const bidEditsPerHour = 100;
const bidEditsPerDay = 2_400;

/** Returns the template limit of a WABA, which depends on its verification (platform reference, 2.5). */
export function templateLimitOf(waba: Waba): number {
  return waba.fields['business_verification_status'] === 'verified' ? 6_000 : 250;
}

/** The budget counts a WABA's successful creations in a sliding hour. */
export class CreationBudget {
  readonly #createdAtMs = new Map<string, readonly number[]>();

  left(wabaId: string, nowMs: number): number {
    return creationsPerHour - this.#recent(wabaId, nowMs).length;
  }

  spend(wabaId: string, nowMs: number): void {
    this.#createdAtMs.set(wabaId, [...this.#recent(wabaId, nowMs), nowMs]);
  }

  #recent(wabaId: string, nowMs: number): readonly number[] {
    return (this.#createdAtMs.get(wabaId) ?? []).filter((atMs) => atMs > nowMs - hourMs);
  }
}

interface EditLimit {
  readonly edits: number;
  readonly withinMs: number;
  readonly words: string;
}

/** An APPROVED template has these limits. An edit of the bid alone has limits of its own (2.6). */
const editLimits: Readonly<Record<'whole' | 'bid', readonly EditLimit[]>> = {
  whole: [
    { edits: 1, withinMs: dayMs, words: 'once in 24 hours' },
    { edits: editsPerMonth, withinMs: 30 * dayMs, words: `${editsPerMonth} times in 30 days` },
  ],
  bid: [
    { edits: bidEditsPerHour, withinMs: hourMs, words: `${bidEditsPerHour} times in an hour` },
    { edits: bidEditsPerDay, withinMs: dayMs, words: `${bidEditsPerDay} times in a day` },
  ],
};

export type EditKind = keyof typeof editLimits;

export class EditBudget {
  readonly #editedAtMs = new Map<string, readonly number[]>();

  /** Tells the reached limit in words; undefined when the edit is allowed. */
  obstacle(templateId: string, kind: EditKind, nowMs: number): string | undefined {
    const edits = this.#editedAtMs.get(`${templateId} ${kind}`) ?? [];
    const reached = editLimits[kind].find(
      ({ edits: most, withinMs }) => edits.filter((atMs) => atMs > nowMs - withinMs).length >= most,
    );
    return reached === undefined ? undefined : `An approved template can be edited ${reached.words}`;
  }

  spend(templateId: string, kind: EditKind, nowMs: number): void {
    const key = `${templateId} ${kind}`;
    this.#editedAtMs.set(key, [...(this.#editedAtMs.get(key) ?? []), nowMs]);
  }
}

/** The name and language of a deleted APPROVED template are locked for 30 days (2.7). */
export class NameLocks {
  readonly #freeAtMs = new Map<string, number>();

  lock({ wabaId, fields }: Template, nowMs: number): void {
    this.#freeAtMs.set(`${wabaId}/${fields.name}/${fields.language}`, nowMs + lockMs);
  }

  /** Returns the end of the lock; undefined when the name is free. */
  lockedUntilMs(wabaId: string, name: string, language: string, nowMs: number): number | undefined {
    const freeAtMs = this.#freeAtMs.get(`${wabaId}/${name}/${language}`);
    return freeAtMs !== undefined && freeAtMs > nowMs ? freeAtMs : undefined;
  }
}
