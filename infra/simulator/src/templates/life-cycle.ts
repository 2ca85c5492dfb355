import type { StatusNote } from '../webhooks/template-updates.ts';
import { says, verdictOn } from './magic-words.ts';
import { type Template, type TemplateFields, timeText } from './template.ts';
import type { TemplateStore } from './template-store.ts';

const hourMs = 3_600_000;
/** A review takes this long on the simulator's clock. */
export const reviewMs = 60_000;
/** The first and the second pause last so long; the third disables the template (platform reference, 2.10). */
const pausesMs = [3 * hourMs, 6 * hourMs] as const;

/** The life cycle calls it after every change of a template, with its state before and after. */
export type OnTemplateChange = (
  before: Template | undefined,
  after: Template | undefined,
  change: { readonly atMs: number; readonly note?: StatusNote | undefined },
) => void;

interface Turn {
  readonly atMs: number;
  readonly note?: StatusNote;
  readonly change: (fields: TemplateFields) => Partial<TemplateFields>;
}

/** Nothing runs in the background: `settle` applies ends of reviews and pauses before each request or webhook. */
export class LifeCycle {
  readonly #templates: TemplateStore;
  readonly #tell: OnTemplateChange;
  readonly #turns = new Map<string, Turn>();
  readonly #pauses = new Map<string, number>();

  constructor(templates: TemplateStore, tell: OnTemplateChange) {
    this.#templates = templates;
    this.#tell = tell;
  }

  nextMs(): number | undefined {
    const times = [...this.#turns.values()].map(({ atMs }) => atMs);
    return times.length === 0 ? undefined : times.reduce((least, one) => Math.min(least, one));
  }

  /** Returns when the template's review or pause ends; undefined when neither runs. */
  nextOf(id: string): number | undefined {
    return this.#turns.get(id)?.atMs;
  }

  /** Changes are dated when they were due. */
  settle(nowMs: number): void {
    for (const [id, turn] of this.#turns) {
      if (turn.atMs > nowMs) continue;
      this.#turns.delete(id);
      const template = this.#templates.get(id);
      if (template !== undefined) this.#change(template, turn.change(template.fields), turn);
    }
  }

  /** Starts the review of a PENDING template, which a magic word may end at once. */
  review(template: Template, nowMs: number): Template {
    const { components } = template.fields;
    this.#turns.delete(template.id);
    if (says(components, 'REVIEW_NOW')) return this.#change(template, verdictOn(template.fields), { atMs: nowMs });
    if (!says(components, 'REVIEW_NEVER')) {
      this.#turns.set(template.id, { atMs: nowMs + reviewMs, change: verdictOn });
    }
    return template;
  }

  /** Pauses for 3 hours, the second time 6; the third time the template becomes DISABLED. */
  pause(template: Template, nowMs: number): Template {
    const before = this.#pauses.get(template.id) ?? 0;
    const lengthMs = pausesMs[before];
    if (lengthMs === undefined) {
      return this.#change(template, { status: 'DISABLED' }, { atMs: nowMs, note: 'DISABLED' });
    }
    this.#pauses.set(template.id, before + 1);
    this.#turns.set(template.id, { atMs: nowMs + lengthMs, note: 'UNPAUSE', change: () => ({ status: 'APPROVED' }) });
    const note = before === 0 ? 'FIRST_PAUSE' : 'SECOND_PAUSE';
    return this.#change(template, { status: 'PAUSED' }, { atMs: nowMs, note });
  }

  unpause(template: Template, nowMs: number): void {
    this.#turns.delete(template.id);
    this.#change(template, { status: 'APPROVED' }, { atMs: nowMs, note: 'UNPAUSE' });
  }

  /** Cancels the review or pause, because a call has set the status. */
  stop(template: Template): void {
    this.#turns.delete(template.id);
  }

  #change(
    template: Template,
    change: Partial<TemplateFields>,
    when: { readonly atMs: number; readonly note?: StatusNote | undefined },
  ): Template {
    const fields = { ...template.fields, ...change, last_updated_time: timeText(when.atMs) };
    const changed = this.#templates.replace(template, fields);
    this.#tell(template, changed, when);
    return changed;
  }
}
