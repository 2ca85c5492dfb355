import { eventId, type ServiceEvent, type TemplateData } from '../../webhooks/event.ts';
import type { TemplateRow } from './row.ts';
import { type PlatformTemplate, rejectionReason } from './template.ts';

/** A client of the WABA has its oldest document of the template in its events (D12). */
export interface Receiver {
  readonly clientId: number;
  readonly templateId: string;
}

/** Events show the template as the platform has it now. */
export type AnnouncedTemplate = Pick<
  PlatformTemplate,
  'id' | 'name' | 'language' | 'status' | 'category' | 'rejected_reason'
> & { readonly wabaId: string };

export function announcedRow(row: TemplateRow): AnnouncedTemplate {
  const { platformId, name, language, status, category, wabaId } = row;
  return { id: platformId, name, language, status, category, wabaId };
}

export function receiverOf({ clientId, documents }: TemplateRow): Receiver {
  return { clientId, templateId: documents[0]?.id ?? '' };
}

/**
 * Returns one event for each receiver. Its id is the same from every sender, because the platform creates a template
 * once.
 */
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

/** Events are only about templates that the client can list. */
function isAnnounced({ deleted, isDirectMessage }: TemplateRow): boolean {
  return !deleted && !isDirectMessage;
}

/** Returns one event for each client with a live row. Deletion and synchronization give it the same id. */
export function deletedEvents(template: AnnouncedTemplate, rows: readonly TemplateRow[], nowMs: number) {
  return rows.filter(isAnnounced).map((row): ServiceEvent => {
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
 * It identifies a change, because a status may recur. The stored status and its time are the same for every reader and
 * retry, so the event id is idempotent.
 */
export interface Occasion {
  readonly sinceMs: number;
  readonly nowMs: number;
}

export function statusChangedEvents(
  template: AnnouncedTemplate,
  rows: readonly TemplateRow[],
  { sinceMs, nowMs }: Occasion,
): ServiceEvent[] {
  const { status, category } = template;
  return rows
    .filter((row) => isAnnounced(row) && (row.status !== status || row.category !== category))
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

/** The platform's reason is cut in an event, which must stay far under 20 KB. */
const longestReason = 1_000;

function rejectionOf(template: AnnouncedTemplate): { readonly rejected_reason?: string } {
  const reason = rejectionReason(template);
  return { rejected_reason: reason?.slice(0, longestReason) };
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
