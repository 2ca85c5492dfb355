import { present } from '../../keys/present.ts';
import { eventId, type ServiceEvent, type TemplateData } from '../../webhooks/event.ts';
import type { TemplateRow } from './row.ts';
import { type PlatformTemplate, rejectionReason } from './template.ts';

/** A client of the WABA, by what is its own in the events: its oldest document of the template (D12). */
export interface Receiver {
  readonly clientId: number;
  readonly templateId: string;
}

/** What the events tell of a template, as the platform has it now. */
export type AnnouncedTemplate = Pick<
  PlatformTemplate,
  'id' | 'name' | 'language' | 'status' | 'category' | 'rejected_reason'
> & { readonly wabaId: string };

/** A template as a client's row has it. */
export function announcedRow(row: TemplateRow): AnnouncedTemplate {
  const { platformId, name, language, status, category, wabaId } = row;
  return { id: platformId, name, language, status, category, wabaId };
}

export function receiverOf({ clientId, documents }: TemplateRow): Receiver {
  return { clientId, templateId: documents[0]?.id ?? '' };
}

/** One event for each receiver. A template of the platform is created once: whoever tells it gives the event the same id. */
export function createdEvents(template: AnnouncedTemplate, receivers: readonly Receiver[], nowMs: number) {
  return receivers.map(
    (receiver): ServiceEvent => ({
      id: eventId('template.created', receiver.clientId, [template.wabaId, template.id]),
      clientId: receiver.clientId,
      type: 'template.created',
      timestampMs: nowMs,
      data: dataOf(template, receiver),
    }),
  );
}

/** What a client cannot list, no event tells of. */
function isTold({ deleted, isDirectMessage }: TemplateRow): boolean {
  return !deleted && !isDirectMessage;
}

/** One event for each client with a live row; the same id whether the deletion or a synchronization tells it. */
export function deletedEvents(template: AnnouncedTemplate, rows: readonly TemplateRow[], nowMs: number) {
  return rows.filter(isTold).map((row): ServiceEvent => {
    const receiver = receiverOf(row);
    return {
      id: eventId('template.deleted', row.clientId, [row.wabaId, row.platformId]),
      clientId: row.clientId,
      type: 'template.deleted',
      timestampMs: nowMs,
      data: dataOf(template, receiver),
    };
  });
}

/**
 * Which change it is: a status may come and go and come again. What was stored, and since when, is the same for everybody
 * who sees the change, and when the telling is repeated: so it is one event.
 */
export interface Occasion {
  readonly sinceMs: number;
  readonly nowMs: number;
}

/** One event for each client whose live row has another status or category than the platform now. */
export function statusChangedEvents(
  template: AnnouncedTemplate,
  rows: readonly TemplateRow[],
  { sinceMs, nowMs }: Occasion,
): ServiceEvent[] {
  const { status, category } = template;
  return rows
    .filter((row) => isTold(row) && (row.status !== status || row.category !== category))
    .map((row) => ({
      id: eventId('template.status_changed', row.clientId, [row.templateKey, status, category, sinceMs]),
      clientId: row.clientId,
      type: 'template.status_changed',
      timestampMs: nowMs,
      data: {
        ...dataOf(template, receiverOf(row)),
        previous_status: row.status,
        previous_category: row.category,
        ...rejectionOf(template),
      },
    }));
}

/** Characters of the platform's reason that are told: an event stays far under 20 KB. */
const longestReason = 1_000;

function rejectionOf(template: AnnouncedTemplate): { readonly rejected_reason?: string } {
  const reason = rejectionReason(template);
  return present({ rejected_reason: reason?.slice(0, longestReason) });
}

function dataOf(template: AnnouncedTemplate, { templateId }: Receiver): TemplateData {
  const { wabaId, id, name, language, status, category } = template;
  return {
    template_id: templateId,
    waba_id: wabaId,
    platform_template_id: id,
    name,
    language,
    status,
    category,
  };
}
