import type { StatusNote } from '../webhooks/template-updates.ts';
import { says, verdictOn } from './magic-words.ts';
import type { TemplateShelf } from './shelf.ts';
import { type Template, type TemplateFields, timeText } from './template.ts';

const hourMs = 3_600_000;
/** How long a review takes on the simulator's clock. */
export const reviewMs = 60_000;
/** The first and the second pause; the third time a template is disabled (platform reference, 2.10). */
const pausesMs = [3 * hourMs, 6 * hourMs] as const;

/** Told of every change of a template, before it is forgotten what it was. */
export type TellTemplate = (
  before: Template | undefined,
  after: Template | undefined,
  change: { readonly atMs: number; readonly note?: StatusNote | undefined },
) => void;

interface Turn {
  readonly atMs: number;
  readonly note?: StatusNote;
  readonly change: (fields: TemplateFields) => Partial<TemplateFields>;
}

/**
 * What happens to templates by themselves: reviews and the ends of pauses. Nothing runs in the background: `settle` catches
 * up with the clock before anybody looks.
 */
export class LifeCycle {
  readonly #shelf: TemplateShelf;
  readonly #tell: TellTemplate;
  readonly #turns = new Map<string, Turn>();
  readonly #pauses = new Map<string, number>();

  constructor(shelf: TemplateShelf, tell: TellTemplate) {
    this.#shelf = shelf;
    this.#tell = tell;
  }

  /** When something happens by itself next. */
  nextMs(): number | undefined {
    const times = [...this.#turns.values()].map(({ atMs }) => atMs);
    return times.length === 0 ? undefined : times.reduce((least, one) => Math.min(least, one));
  }

  /** When something happens to one template by itself next: the end of its review, or of its pause. */
  nextOf(id: string): number | undefined {
    return this.#turns.get(id)?.atMs;
  }

  /** Does what has become due, dated when it was due. */
  settle(nowMs: number): void {
    for (const [id, turn] of this.#turns) {
      if (turn.atMs > nowMs) continue;
      this.#turns.delete(id);
      const template = this.#shelf.get(id);
      if (template !== undefined) this.#change(template, turn.change(template.fields), turn);
    }
  }

  /** Sends a PENDING template to review and returns it as it is then: a magic word may end the review at once. */
  review(template: Template, nowMs: number): Template {
    const { components } = template.fields;
    this.#turns.delete(template.id);
    if (says(components, 'REVIEW_NOW')) return this.#change(template, verdictOn(template.fields), { atMs: nowMs });
    if (!says(components, 'REVIEW_NEVER')) {
      this.#turns.set(template.id, { atMs: nowMs + reviewMs, change: verdictOn });
    }
    return template;
  }

  /** Pauses an APPROVED template for 3 hours, the second time for 6; the third time it is DISABLED. */
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

  /** Nothing more happens to the template by itself: somebody has set its status by hand. */
  stop(template: Template): void {
    this.#turns.delete(template.id);
  }

  #change(
    template: Template,
    change: Partial<TemplateFields>,
    when: { readonly atMs: number; readonly note?: StatusNote | undefined },
  ): Template {
    const fields = { ...template.fields, ...change, last_updated_time: timeText(when.atMs) };
    const changed = this.#shelf.replace(template, fields);
    this.#tell(template, changed, when);
    return changed;
  }
}
