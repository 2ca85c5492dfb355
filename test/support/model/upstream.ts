import { type Slot, slotKey } from './setting.ts';

export interface UpstreamTemplate {
  readonly slot: Slot;
  id: string;
  status: string;
  text: string;
  reason: string | undefined;
  quality: string | undefined;
  /** The next change by time is the end of a review or of a pause. */
  due: { readonly atMs: number; readonly what: 'review' | 'unpause' } | undefined;
  pauses: number;
  readonly approvedEditsAtMs: number[];
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The model follows the platform (platform reference, 2.5 to 2.10) as far as the commands of the model test need. */
export class UpstreamModel {
  readonly templates = new Map<string, UpstreamTemplate>();
  readonly #lockedUntilMs = new Map<string, number>();

  at(slot: Slot): UpstreamTemplate | undefined {
    return this.templates.get(slotKey(slot));
  }

  byId(id: string): UpstreamTemplate | undefined {
    return [...this.templates.values()].find((template) => template.id === id);
  }

  ofWaba(wabaId: string): UpstreamTemplate[] {
    return [...this.templates.values()].filter((template) => template.slot.wabaId === wabaId);
  }

  /** Applies all changes that are due. */
  settle(nowMs: number): void {
    for (const template of this.templates.values()) {
      if (template.due === undefined || template.due.atMs > nowMs) continue;
      if (template.due.what === 'review') endReview(template);
      else template.status = 'APPROVED';
      template.due = undefined;
    }
  }

  /** Returns undefined when the platform refuses. The platform chooses the id, which is set later. */
  create(slot: Slot, text: string, nowMs: number): UpstreamTemplate | undefined {
    if (this.at(slot) !== undefined || (this.#lockedUntilMs.get(slotKey(slot)) ?? 0) > nowMs) return undefined;
    const template = this.appear(slot, '', text);
    beginReview(template, nowMs);
    return template;
  }

  /** Returns whether the platform accepts the edit. */
  edit(id: string, text: string, nowMs: number): boolean {
    const template = this.byId(id);
    if (template === undefined || !['APPROVED', 'REJECTED', 'PAUSED'].includes(template.status)) return false;
    if (template.status === 'APPROVED') {
      const since = (ms: number) => template.approvedEditsAtMs.filter((atMs) => atMs > nowMs - ms).length;
      if (since(dayMs) >= 1 || since(30 * dayMs) >= 10) return false;
      template.approvedEditsAtMs.push(nowMs);
    }
    template.text = text;
    beginReview(template, nowMs);
    return true;
  }

  /** Deletes the template as the platform does, which locks the name of an approved one for 30 days. */
  remove(id: string, nowMs: number): boolean {
    const template = this.byId(id);
    if (template === undefined || template.status === 'DISABLED') return false;
    const key = slotKey(template.slot);
    if (template.status === 'APPROVED') this.#lockedUntilMs.set(key, nowMs + 30 * dayMs);
    this.templates.delete(key);
    return true;
  }

  /** Adds an approved template that another user has made elsewhere. */
  appear(slot: Slot, id: string, text: string): UpstreamTemplate {
    const unset = { reason: undefined, quality: undefined, due: undefined, pauses: 0 };
    const template = { slot, id, text, status: 'APPROVED', ...unset, approvedEditsAtMs: [] };
    this.templates.set(slotKey(slot), template);
    return template;
  }
}

/** Pauses for quality: 3 hours, then 6; the third pause disables the template. */
export function pause(template: UpstreamTemplate, nowMs: number): void {
  template.pauses += 1;
  const hours = [3, 6][template.pauses - 1];
  template.status = hours === undefined ? 'DISABLED' : 'PAUSED';
  if (hours !== undefined) template.due = { atMs: nowMs + hours * hourMs, what: 'unpause' };
}

function beginReview(template: UpstreamTemplate, nowMs: number): void {
  template.status = 'PENDING';
  template.reason = undefined;
  template.due = { atMs: nowMs + minuteMs, what: 'review' };
  if (!template.text.includes('REVIEW_NOW')) return;
  template.due = undefined;
  endReview(template);
}

function endReview(template: UpstreamTemplate): void {
  const rejected = template.text.includes('REJECT_SCAM');
  template.status = rejected ? 'REJECTED' : 'APPROVED';
  template.reason = rejected ? 'SCAM' : 'NONE';
}
