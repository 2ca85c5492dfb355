import type { Waba } from '../state.ts';
import type { Template } from './template.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lockMs = 30 * dayMs;
const creationsPerHour = 100;
const editsPerMonth = 10;

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

/** Edits of a template while it is APPROVED: one in 24 hours and ten in 30 days (2.6). */
export class EditBudget {
  readonly #editedAtMs = new Map<string, readonly number[]>();

  /** The limit that stands in the way, in words; undefined when there is none. */
  obstacle(templateId: string, nowMs: number): string | undefined {
    const edits = this.#editedAtMs.get(templateId) ?? [];
    const since = (ms: number) => edits.filter((atMs) => atMs > nowMs - ms).length;
    if (since(dayMs) >= 1) return 'An approved template can be edited once in 24 hours';
    return since(30 * dayMs) >= editsPerMonth
      ? `An approved template can be edited ${editsPerMonth} times in 30 days`
      : undefined;
  }

  spend(templateId: string, nowMs: number): void {
    this.#editedAtMs.set(templateId, [...(this.#editedAtMs.get(templateId) ?? []), nowMs]);
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
