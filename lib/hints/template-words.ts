import * as v from 'valibot';
import type { Waba } from '../access/directory.ts';
import { idOf, type PlatformUpdate } from '../platform/webhook/envelope.ts';
import { categoryFields } from '../platform/webhook/fields.ts';
import { goneUpstream, isYounger, unstorableReason } from '../templates/model/stored-fact.ts';
import type { PlatformTemplate, StoredFact } from '../templates/model/template.ts';
import { deletedEvents, statusChangedEvents } from '../templates/model/template-event.ts';
import { templateKey } from '../templates/model/template-key.ts';
import type { TemplateStore } from '../templates/model/template-store.ts';
import type { EventSink } from '../webhooks/event.ts';

/** A template of these statuses cannot be sent (platform reference, 2.4). */
const stoppingStatuses = [
  ...(['PENDING', 'REJECTED', 'PAUSED', 'DISABLED', 'IN_APPEAL'] as const),
  ...(['PENDING_DELETION', 'DELETED', 'LIMIT_EXCEEDED', 'ARCHIVED'] as const),
] as const;

/** The platform says that a template is stricter than it was (D42). Looser words are hints only. */
export const TemplateWordSchema = v.object({
  templateId: v.string(),
  /** Without name and language the template is looked for by its id. */
  name: v.optional(v.string()),
  language: v.optional(v.string()),
  status: v.optional(v.picklist(stoppingStatuses)),
  category: v.optional(v.literal('MARKETING')),
  /** The platform's reason of a rejection. */
  reason: v.optional(v.string()),
  /** The time is the platform's, at most that of arrival: every later reading is younger. */
  atMs: v.number(),
});
export type TemplateWord = v.InferOutput<typeof TemplateWordSchema>;

const ValueSchema = v.object({
  message_template_id: v.unknown(),
  message_template_name: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(512))), undefined),
  message_template_language: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(20))), undefined),
  event: v.fallback(v.optional(v.picklist(stoppingStatuses)), undefined),
  new_category: v.fallback(v.optional(v.literal('MARKETING')), undefined),
  reason: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(1_000))), undefined),
});

/** The platform's times are whole seconds: a word may be as late as the end of its second. */
const secondMs = 999;

/** Returns the words that make templates stricter, by time. Never throws: an unreadable one is a hint only. */
export function templateWordsOf(updates: readonly PlatformUpdate[], arrivedAtMs: number): TemplateWord[] {
  return updates.flatMap((update) => wordOf(update, arrivedAtMs) ?? []).toSorted((one, other) => one.atMs - other.atMs);
}

function wordOf({ field, value, atMs }: PlatformUpdate, arrivedAtMs: number): TemplateWord | undefined {
  const parsed = v.safeParse(ValueSchema, value);
  const templateId = idOf(value['message_template_id']);
  if (!parsed.success || templateId === undefined) return undefined;
  const {
    message_template_name: name,
    message_template_language: language,
    event,
    new_category,
    reason,
  } = parsed.output;
  const said = {
    ...{ templateId, name, language },
    atMs: atMs === undefined ? arrivedAtMs : Math.min(atMs + secondMs, arrivedAtMs),
  };
  if (field === 'message_template_status_update' && event !== undefined) {
    return { ...said, status: event, ...(event === 'REJECTED' ? { reason } : {}) };
  }
  return categoryFields.some((each) => each === field) && new_category !== undefined
    ? { ...said, category: new_category }
    : undefined;
}

export interface WordPorts {
  readonly templates: Pick<TemplateStore, 'stateOf' | 'rowsOf' | 'writeUpstream'>;
  readonly events: EventSink;
  readonly nowMs: () => number;
  /** What messages wait for (D46). Every method is idempotent, and throws when the store cannot be reached. */
  readonly templateHolds: {
    heedWord(
      template: { readonly wabaId: string; readonly name: string; readonly language: string },
      word: Pick<TemplateWord, 'status' | 'category'>,
    ): Promise<void>;
    heedReadings(wabaId: string): Promise<void>;
  };
}

/**
 * Holds the template's messages, tells the clients and stores the word, in this order and without a call, until a
 * reading confirms or lifts it (D42). Ignores a word that is older than the stored reading. Is idempotent.
 */
export async function heedTemplateWord(waba: Waba, word: TemplateWord, ports: WordPorts): Promise<void> {
  const { wabaId, clientIds } = waba;
  const key = await keyOf(waba, word, ports);
  if (key === undefined) return;
  const { fact, rows } = await ports.templates.stateOf(key, clientIds);
  if (fact === undefined || fact.deleted || fact.template.id !== word.templateId) return;
  const template = wordedTemplate(fact, word);
  const isStored = template.status === fact.template.status && template.category === fact.template.category;
  if (!isStored && isYounger(fact, word.atMs)) return;
  const { name, language } = fact.template;
  await ports.templateHolds.heedWord({ wabaId, name, language }, word);
  if (isStored || unstorableReason(template) !== undefined) return;
  const announced = { ...template, wabaId };
  const nowMs = ports.nowMs();
  await ports.events.send(
    goneUpstream(template)
      ? deletedEvents(announced, rows, nowMs)
      : statusChangedEvents(announced, rows, { sinceMs: fact.sinceMs, nowMs }),
  );
  const write = { kind: 'present', wabaId, clientIds, template, readAtMs: word.atMs } as const;
  // A send uses a template that became MARKETING as it uses a reading. A refusal never rests on it (D23).
  await ports.templates.writeUpstream([word.status === undefined ? write : { ...write, asSent: true }]);
}

async function keyOf(
  { wabaId, clientIds }: Waba,
  { templateId, name, language }: TemplateWord,
  { templates }: WordPorts,
): Promise<string | undefined> {
  if (name !== undefined && language !== undefined) return templateKey({ wabaId, name, language });
  for (const clientId of clientIds) {
    const rows = await templates.rowsOf(clientId);
    const row = rows.find((each) => each.platformId === templateId && each.wabaId === wabaId && !each.deleted);
    if (row !== undefined) return row.templateKey;
  }
  return undefined;
}

function wordedTemplate({ template }: StoredFact, { status, category, reason }: TemplateWord): PlatformTemplate {
  const { rejected_reason: _before, ...known } = template;
  const worded = { ...template, category: category ?? template.category };
  if (status === undefined) return worded;
  return { ...known, category: worded.category, rejected_reason: reason, status };
}
