import type { Waba } from '../wabas.ts';
import type { Template } from './template.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lockMs = 30 * dayMs;
const creationsPerHour = 100;
const editsPerMonth = 10;
const bidEditsPerHour = 100;
const bidEditsPerDay = 2_400;

/** Templates that a WABA may have: the unverified ones few (platform reference, 2.5). */
export function templateLimitOf(waba: Waba): number {
  return waba.fields['business_verification_status'] === 'verified' ? 6_000 : 250;
}

/** Creations per WABA in any hour; only those that succeed count. */
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

/** While a template is APPROVED: for edits of all kinds, and more for those that change the bid alone (2.6). */
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

/** Edits of templates while they are APPROVED. */
export class EditBudget {
  readonly #editedAtMs = new Map<string, readonly number[]>();

  /** The limit that stands in the way, in words; undefined when there is none. */
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

/** Names, each in one language, whose APPROVED template was deleted: they are not free again for 30 days (2.7). */
export class NameLocks {
  readonly #freeAtMs = new Map<string, number>();

  lock({ wabaId, fields }: Template, nowMs: number): void {
    this.#freeAtMs.set(`${wabaId}/${fields.name}/${fields.language}`, nowMs + lockMs);
  }

  /** When the name is free again, in milliseconds; undefined when it is. */
  lockedUntilMs(wabaId: string, name: string, language: string, nowMs: number): number | undefined {
    const freeAtMs = this.#freeAtMs.get(`${wabaId}/${name}/${language}`);
    return freeAtMs !== undefined && freeAtMs > nowMs ? freeAtMs : undefined;
  }
}
